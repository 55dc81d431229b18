/**
 * A client's side of a websocket while the provider has not agreed to it: what it sends already is held, within a
 * bound, and never goes anywhere unless the provider switches protocols.
 */
import type { Duplex } from 'node:stream';

/** Beyond this the client has to wait. */
const HELD_BYTES = 64 * 1024;
/** Of a client that does not close after it was told to. */
const LINGER_MS = 2_000;

export interface HeldClient {
  /** Ends the holding and gives what was held; nobody listens to the connection any more. */
  readonly take: () => readonly Buffer[];
  /** Drops what was held and what still comes, and closes once the client has. */
  readonly close: () => void;
}

/** `head` came behind the request. A client that goes away, or ends its side, is destroyed. */
export function holdClient(socket: Duplex, head: Buffer): HeldClient {
  let held: Buffer[] = head.length === 0 ? [] : [head];
  let heldBytes = head.length;

  function onData(chunk: Buffer): void {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= HELD_BYTES) socket.pause();
  }
  function onEnd(): void {
    socket.destroy();
  }
  function onError(): void {
    socket.destroy();
  }
  function release(): readonly Buffer[] {
    socket.off('data', onData);
    socket.off('end', onEnd);
    const taken = held;
    held = [];
    return taken;
  }

  socket.on('data', onData);
  socket.on('end', onEnd);
  // Stays for good: an error without a listener would end the process.
  socket.on('error', onError);
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

/**
 * Sends what is written and the end, and reads on until the other side has closed too: a connection that is closed with
 * something unread is reset, and the other side could lose what it was told last.
 */
export function closeGently(socket: Duplex): void {
  const deadline = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(deadline));
  socket.on('data', drop);
  socket.resume();
  socket.end();
}

function drop(): void {}
