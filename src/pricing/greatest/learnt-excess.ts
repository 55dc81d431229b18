/**
 * Calls that cost more than their bound: a project's own default tier, a name that is served by a dearer model, a catalog
 * with too small a limit. Each is found out once: bounds of the same kind are raised by as much for a while.
 */
import type { PicoUsd } from '../../vocabulary/usd.ts';

const SCALE = 1_000n;
const MAX_KEPT = 1_000;
/** What was a single accident is forgotten after so many calls that kept to their bound. */
const CALLS_RAISED = 1_000;

interface Excess {
  /** Thousandths by which a bound is multiplied. */
  readonly factor: bigint;
  readonly callsLeft: number;
}

export class LearntExcess {
  readonly #known = new Map<string, Excess>();

  raise(kind: string, bound: PicoUsd): PicoUsd {
    const excess = this.#known.get(kind);
    return excess === undefined ? bound : (bound * excess.factor) / SCALE + 1n;
  }

  /** `bound`: as the request alone gave it. */
  note(kind: string, bound: PicoUsd, cost: PicoUsd): void {
    const before = this.#known.get(kind);
    if (cost > bound && bound > 0n) {
      const factor = (SCALE * cost) / bound + 1n;
      if (this.#known.size >= MAX_KEPT) this.#known.clear();
      const most = before !== undefined && before.factor > factor ? before.factor : factor;
      this.#known.set(kind, { factor: most, callsLeft: CALLS_RAISED });
    } else if (before !== undefined) {
      if (before.callsLeft > 1) this.#known.set(kind, { ...before, callsLeft: before.callsLeft - 1 });
      else this.#known.delete(kind);
    }
  }
}
