import type { ClientResponse } from './client-exchange.ts';

/** Ends a cut answer visibly: closes without the final chunk, or resets where a close would look like an ending. */
export function breakConnection(outgoing: ClientResponse, hasDeclaredLength: boolean): void {
  if (outgoing.destroyed) return;
  const { socket } = outgoing;
  if (socket === null) {
    // A pipelined answer has no socket yet; what it holds is written right after it gets one.
    outgoing.once('socket', () => process.nextTick(breakConnection, outgoing, hasDeclaredLength));
    return;
  }
  if (outgoing.chunkedEncoding || hasDeclaredLength) socket.destroySoon();
  else socket.resetAndDestroy();
}
