/** Holds what a client sends, within a bound, until the provider has agreed to the websocket. */
import type { Duplex } from 'node:stream';

/** Beyond this the client is paused. */
const HELD_BYTES = 64 * 1024;
/** Time for a client to close after the server's end. */
const LINGER_MS = 2_000;

export interface PendingClient {
  /** Returns what was held and stops listening. */
  readonly take: () => readonly Buffer[];
  /** Drops what was held, and closes once the client has. */
  readonly close: () => void;
}

/** `head` followed the request. A client that leaves or ends its side is destroyed. */
export function holdPendingClient(socket: Duplex, head: Buffer): PendingClient {
  let held: Buffer[] = head.length === 0 ? [] : [head];
  let heldBytes = head.length;

  function onData(chunk: Buffer): void {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= HELD_BYTES) socket.pause();
  }
  function destroy(): void {
    socket.destroy();
  }
  function release(): readonly Buffer[] {
    socket.off('data', onData);
    socket.off('end', destroy);
    const taken = held;
    held = [];
    return taken;
  }

  socket.on('data', onData);
  socket.on('end', destroy);
  // Kept for good: an unhandled error would end the process.
  socket.on('error', destroy);
  return {
    take: () => {
      socket.pause();
      return release();
    },
    close: () => {
      release();
      closeGently(socket);
    },
  };
}

/** Ends our side and reads on until the peer closes, since a close with unread bytes could reset what was sent. */
export function closeGently(socket: Duplex): void {
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.on('data', () => {});
  socket.resume();
  socket.end();
}
