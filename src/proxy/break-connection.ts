/** The end of an answer that was cut, as its client sees it. */
import type { ClientResponse } from './client-exchange.ts';

/**
 * Ends a cut answer so that the client cannot take it for a whole one: what was received is flushed, and the connection
 * is closed without the final chunk, or reset where a close would look like an ending (HTTP/1.0, no declared length).
 */
export function breakConnection(outgoing: ClientResponse, hasDeclaredLength: boolean): void {
  if (outgoing.destroyed) return;
  const { socket } = outgoing;
  if (socket === null) {
    // Pipelined: it waits for the answers before it. What it holds is written right after it gets the socket.
    outgoing.once('socket', () => process.nextTick(breakConnection, outgoing, hasDeclaredLength));
    return;
  }
  if (outgoing.chunkedEncoding || hasDeclaredLength) socket.destroySoon();
  else socket.resetAndDestroy();
}
