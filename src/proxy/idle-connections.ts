/**
 * Closes the connections of HTTP/1.1 that nothing is under way on. `closeIdleConnections` of `node:http` would also close
 * those whose answer has ended and waits for its client to take it, and so cut it.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

interface Quiet {
  readonly answer: ServerResponse;
  readonly bytesRead: number;
}

export class IdleConnections {
  readonly #open = new Set<Socket>();
  /** As a connection was found when its latest answer had left. */
  readonly #quiet = new WeakMap<Duplex, Quiet>();
  readonly #latest: Pick<WeakMap<Duplex, ServerResponse>, 'get'>;

  /** `latest`: the latest answer of each connection. */
  constructor(latest: Pick<WeakMap<Duplex, ServerResponse>, 'get'>) {
    this.#latest = latest;
  }

  add(socket: Socket): void {
    this.#open.add(socket);
    socket.once('close', () => this.#open.delete(socket));
  }

  /** It speaks another protocol from here on. */
  forget(socket: Socket): void {
    this.#open.delete(socket);
  }

  /** To be called repeatedly: a connection is closed where it was idle at the call before, and no byte has come since. */
  close(): void {
    for (const socket of this.#open) if (this.#isIdle(socket)) socket.destroy();
  }

  #isIdle(socket: Socket): boolean {
    const answer = this.#latest.get(socket);
    // Without an answer it is new, and its first request may be on its way.
    if (answer?.writableFinished !== true || !answer.req.complete || socket.writableLength > 0) return false;
    const quiet = this.#quiet.get(socket);
    const { bytesRead } = socket;
    if (quiet?.answer === answer) return quiet.bytesRead === bytesRead;
    this.#quiet.set(socket, { answer, bytesRead });
    return false;
  }
}
