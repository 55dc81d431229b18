/** Cuts connections whose peer does not read what waits to be sent, by one coarse timer for all. */
import type { Socket } from 'node:net';

interface Progress {
  /** Bytes the system has taken in whole writes, and bytes left of the current one. */
  takenBytes: number;
  queuedBytes: number;
  sinceMs: number;
}

export class StalledSockets {
  readonly #progress = new Map<Socket, Progress>();
  readonly #limitMs: number;
  readonly #timer: NodeJS.Timeout;

  /** A socket is cut between `limitMs` and `limitMs` + 2 × `intervalMs` after its last progress. */
  constructor(limitMs: number, intervalMs: number) {
    this.#limitMs = limitMs;
    this.#timer = setInterval(() => this.#sweep(performance.now()), intervalMs);
    this.#timer.unref();
  }

  get size(): number {
    return this.#progress.size;
  }

  add(socket: Socket): void {
    this.#progress.set(socket, { takenBytes: 0, queuedBytes: 0, sinceMs: performance.now() });
    socket.once('close', () => this.#progress.delete(socket));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(nowMs: number): void {
    for (const [socket, progress] of this.#progress) {
      const takenBytes = socket.bytesWritten - socket.writableLength;
      const queuedBytes = readQueue(socket);
      const hasMoved = takenBytes !== progress.takenBytes || queuedBytes !== progress.queuedBytes;
      if (socket.writableLength === 0 || hasMoved) {
        progress.takenBytes = takenBytes;
        progress.queuedBytes = queuedBytes;
        progress.sinceMs = nowMs;
      } else if (nowMs - progress.sinceMs > this.#limitMs) {
        socket.destroy();
      }
    }
  }
}

/** As `socket.setTimeout` reads it: Node joins waiting bytes into one write, which can be large. */
function readQueue(socket: Socket): number {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return 0;
  const queued: unknown = Reflect.get(handle, 'writeQueueSize');
  return typeof queued === 'number' ? queued : 0;
}
