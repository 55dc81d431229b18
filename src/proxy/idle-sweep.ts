/** Ends waits that were idle for too long, with one coarse timer, since a timer for each would cost too much. */
import { UnorderedSet } from './unordered-set.ts';

export interface IdleWait {
  /** Monotonic time of the last activity, set by the owner. */
  touchedMs: number;
  /** Called once, after the wait was removed. */
  readonly onIdle: () => void;
}

export class IdleSweep {
  readonly #waits = new UnorderedSet<IdleWait>();
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
