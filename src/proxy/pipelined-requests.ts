/** Runs pipelined requests one at a time; `node:http` would run them at once. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** For one connection; each waiting request takes memory. */
const MAX_WAITING = 64;

export class PipelinedRequests {
  readonly #waiting = new WeakMap<Socket, number>();

  /** `before`: the answer to the previous request on this connection. */
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
