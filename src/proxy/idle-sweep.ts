/**
 * Finds the waits that have been idle for too long, by one coarse timer for all of them instead of one timer each:
 * a body is there after microseconds, mostly, and a timer costs more than that.
 */
import { OpenSet } from './open-set.ts';

export interface IdleWait {
  /** Monotonic time of the last sign of life; the owner sets it. */
  touchedMs: number;
  /** Called once when the wait has been idle for the limit; the wait is removed before. */
  readonly onIdle: () => void;
}

export class IdleSweep {
  readonly #waits = new OpenSet<IdleWait>();
  readonly #timer: NodeJS.Timeout;

  constructor(limitMs: number, intervalMs: number) {
    this.#timer = setInterval(() => this.#sweep(performance.now() - limitMs), intervalMs);
    this.#timer.unref();
  }

  add(wait: IdleWait): void {
    this.#waits.add(wait);
  }

  remove(wait: IdleWait): void {
    this.#waits.delete(wait);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(beforeMs: number): void {
    for (const wait of this.#waits) {
      if (wait.touchedMs >= beforeMs) continue;
      this.#waits.delete(wait);
      wait.onIdle();
    }
  }
}
