/**
 * Pipelined requests, one at a time: the next one of a connection is run when the answer before it has left whole, and
 * not at all when that answer was the connection's last. `node:http` keeps their answers in order, but runs them at once.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** On one connection; no client sends more without having an answer, and each takes memory. */
const MAX_WAITING = 64;

export class RequestTurns {
  readonly #waiting = new WeakMap<Socket, number>();

  /** `before`: the answer to the request before this one on the same connection. */
  take(before: ServerResponse | undefined, { socket }: IncomingMessage, run: () => void): void {
    if (before === undefined || before.writableFinished) {
      if (socket.writable) run();
      return;
    }
    const waiting = (this.#waiting.get(socket) ?? 0) + 1;
    if (waiting > MAX_WAITING) {
      socket.destroy();
      return;
    }
    this.#waiting.set(socket, waiting);
    before.once('close', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      if (socket.writable) run();
    });
  }
}
