/**
 * Cuts connections that hold a request open by sending its body drop by drop: below a lowest pace, or still at it when
 * the answer has long been given. For a server whose requests are small or come as fast as they are taken; a large
 * upload may last as long as it moves. Heads have a limit of `node:http`'s.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface SlowRequestLimits {
  /** The pace counts after this. */
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** After the answer, for a client that still sends. */
  readonly answeredMs: number;
  readonly intervalMs: number;
}

const LOWEST_BYTES_PER_SECOND = 500;

export const SLOW_REQUEST_LIMITS: SlowRequestLimits = {
  graceMs: 30_000,
  bytesPerSecond: LOWEST_BYTES_PER_SECOND,
  answeredMs: 5_000,
  intervalMs: 5_000,
};

interface OpenRequest {
  /** Moved on while the request waits for us, not for its client. */
  sinceMs: number;
  readonly bytesBefore: number;
  readonly outgoing: ServerResponse;
  answeredMs: number | null;
}

export class SlowRequests {
  readonly #open = new Map<IncomingMessage, OpenRequest>();
  readonly #limits: SlowRequestLimits;
  readonly #isExempt: (incoming: IncomingMessage) => boolean;
  readonly #timer: NodeJS.Timeout;

  /** `isExempt`: may come at any pace until it is answered. */
  constructor(limits: SlowRequestLimits, isExempt: (incoming: IncomingMessage) => boolean) {
    this.#limits = limits;
    this.#isExempt = isExempt;
    this.#timer = setInterval(() => this.#sweep(performance.now()), limits.intervalMs);
    this.#timer.unref();
  }

  add(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const bytesBefore = incoming.socket.bytesRead;
    this.#open.set(incoming, { sinceMs: performance.now(), bytesBefore, outgoing, answeredMs: null });
    const { socket } = incoming;
    const onSocketClose = () => this.#open.delete(incoming);
    socket.once('close', onSocketClose);
    // A kept connection brings many requests: each takes its listener along.
    incoming.once('close', () => {
      if (!incoming.complete) return;
      socket.off('close', onSocketClose);
      this.#open.delete(incoming);
    });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(nowMs: number): void {
    const { graceMs, bytesPerSecond, answeredMs, intervalMs } = this.#limits;
    for (const [incoming, request] of this.#open) {
      if (incoming.complete) {
        this.#open.delete(incoming);
        continue;
      }
      if (request.outgoing.writableFinished) {
        request.answeredMs ??= nowMs;
        if (nowMs - request.answeredMs >= answeredMs) incoming.socket.destroy();
        continue;
      }
      if (this.#isExempt(incoming)) continue;
      // There are bytes that nobody has taken yet.
      if (incoming.readableLength > 0) request.sinceMs += intervalMs;
      const elapsedMs = nowMs - request.sinceMs;
      const received = incoming.socket.bytesRead - request.bytesBefore;
      if (elapsedMs > graceMs && received < (bytesPerSecond * elapsedMs) / 1_000) incoming.socket.destroy();
    }
  }
}
