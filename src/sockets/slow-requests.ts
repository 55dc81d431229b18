/** Cuts connections whose request body arrives too slowly, or still arrives long after the answer. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export interface SlowRequestLimits {
  readonly graceMs: number;
  readonly bytesPerSecond: number;
  /** Time after the answer for a client that still sends. */
  readonly answeredMs: number;
  readonly intervalMs: number;
}

export const SLOW_REQUEST_LIMITS: SlowRequestLimits = {
  graceMs: 30_000,
  bytesPerSecond: 500,
  answeredMs: 5_000,
  intervalMs: 5_000,
};

interface OpenRequest {
  /** Moved forward while the request waits for us. */
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

  /** `isExempt` requests may come at any pace until answered. */
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
    // A kept connection must not collect listeners.
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
      if (incoming.readableLength > 0) request.sinceMs += intervalMs;
      const elapsedMs = nowMs - request.sinceMs;
      const received = incoming.socket.bytesRead - request.bytesBefore;
      if (elapsedMs > graceMs && received < (bytesPerSecond * elapsedMs) / 1_000) incoming.socket.destroy();
    }
  }
}
