/** Sends a streamed body, chunked or with its announced length, no faster than the provider reads. */
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { UpstreamError } from './upstream-failure.ts';

export interface BodyOwner {
  onBodyProgress(): void;
  fail(error: Error): void;
}

export class UpstreamBody {
  isSent = false;
  #isStopped = false;
  /** Bytes left of the announced length; null without one. */
  #left: number | null;
  readonly #stream: Readable;
  readonly #owner: BodyOwner;

  constructor(stream: Readable, bodyBytes: number | null, owner: BodyOwner) {
    this.#stream = stream;
    this.#left = bodyBytes;
    this.#owner = owner;
    stream.on('error', (error) => this.#fail(error));
    // After the end this does nothing; otherwise the body was cut.
    stream.once('close', () => this.#fail(new UpstreamError('BODY_LENGTH')));
  }

  start(socket: Socket): void {
    if (this.#isStopped) return;
    if (this.#stream.destroyed) {
      this.#fail(this.#stream.errored ?? new UpstreamError('BODY_LENGTH'));
      return;
    }
    this.#stream.on('data', (chunk: Buffer) => this.#write(socket, chunk));
    this.#stream.once('end', () => this.#end(socket));
  }

  onDrain(): void {
    if (!this.#isStopped && !this.isSent) this.#stream.resume();
  }

  stop(): void {
    if (this.#isStopped || this.isSent) return;
    this.#isStopped = true;
    this.#stream.destroy();
  }

  #write(socket: Socket, chunk: Buffer): void {
    if (this.#isStopped || chunk.length === 0) return;
    this.#owner.onBodyProgress();
    if (this.#left === null) {
      socket.cork();
      socket.write(`${chunk.length.toString(16)}\r\n`, 'latin1');
      socket.write(chunk);
      socket.write('\r\n', 'latin1');
      socket.uncork();
    } else {
      this.#left -= chunk.length;
      if (this.#left < 0) {
        this.#fail(new UpstreamError('BODY_LENGTH'));
        return;
      }
      socket.write(chunk);
    }
    if (socket.writableNeedDrain) this.#stream.pause();
  }

  #end(socket: Socket): void {
    if (this.#isStopped) return;
    if (this.#left !== null && this.#left > 0) {
      this.#fail(new UpstreamError('BODY_LENGTH'));
      return;
    }
    if (this.#left === null) socket.write('0\r\n\r\n', 'latin1');
    this.isSent = true;
  }

  #fail(error: Error): void {
    if (this.#isStopped || this.isSent) return;
    this.#isStopped = true;
    this.#owner.fail(error);
  }
}
