/**
 * Calls that cost more than their bound: a project's own default tier, a name that is served by a dearer model, a catalog
 * with too small a limit. Each is found out once: later bounds of the same are raised by as much.
 */
import type { PicoUsd } from '../../vocabulary/usd.ts';

const SCALE = 1_000n;
const MAX_KEPT = 1_000;

export class LearntExcess {
  /** Thousandths by which a bound is multiplied. */
  readonly #factors = new Map<string, bigint>();

  raise(key: string, amount: PicoUsd): PicoUsd {
    const factor = this.#factors.get(key);
    return factor === undefined ? amount : (amount * factor) / SCALE + 1n;
  }

  /** `bound`: as it was reserved, raised or not. */
  note(key: string, bound: PicoUsd, cost: PicoUsd): void {
    if (cost <= bound || bound <= 0n) return;
    const before = this.#factors.get(key) ?? SCALE;
    if (this.#factors.size >= MAX_KEPT && !this.#factors.has(key)) this.#factors.clear();
    this.#factors.set(key, (before * cost) / bound + 1n);
  }
}
