/**
 * What calls usually cost: for each key and model, the cost that 99 of 100 do not exceed, to the next sixteenth of a power
 * of two. It is measured in this process from the calls that it settles, so that it is of now and costs no question.
 */
import { dropOldest } from '../../vocabulary/drop-oldest.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';

/** With fewer, one unusual call would decide. */
const LEAST_CALLS = 100;
/** Then all counts are halved, so that older calls count for less. */
const MOST_CALLS = 10_000;
/** It is measured anew after so many calls. */
const RENEWED_AFTER = 20;
const MAX_KEPT = 2_000;
/** How many calls may be above: one in a hundred. */
const SHARE = 100;
const STEP_BITS = 4;

/** The last amount of the bucket, which is at most a sixteenth above the first. */
function upperEdge(amount: PicoUsd): PicoUsd {
  const bits = amount.toString(2).length;
  if (bits <= STEP_BITS + 1) return amount;
  const shift = BigInt(bits - STEP_BITS - 1);
  return (((amount >> shift) + 1n) << shift) - 1n;
}

class CostCounts {
  readonly #counts = new Map<PicoUsd, number>();
  #total = 0;
  #usual: PicoUsd | null = null;

  /** Null with too few calls. */
  get usual(): PicoUsd | null {
    return this.#usual;
  }

  add(amount: PicoUsd): void {
    const edge = upperEdge(amount);
    this.#counts.set(edge, (this.#counts.get(edge) ?? 0) + 1);
    this.#total += 1;
    if (this.#total >= MOST_CALLS) this.#halve();
    if (this.#total % RENEWED_AFTER === 0) this.#usual = this.#measure();
  }

  #halve(): void {
    this.#total = 0;
    for (const [key, count] of this.#counts) {
      const half = count >> 1;
      if (half === 0) this.#counts.delete(key);
      else this.#counts.set(key, half);
      this.#total += half;
    }
  }

  #measure(): PicoUsd | null {
    if (this.#total < LEAST_CALLS) return null;
    let above = 0;
    for (const [edge, count] of [...this.#counts].sort(([a], [b]) => (a < b ? 1 : -1))) {
      above += count;
      if (above * SHARE > this.#total) return edge;
    }
    return null;
  }
}

export class UsualCosts {
  /** The least recently used comes first. */
  readonly #kept = new Map<string, CostCounts>();

  find(kind: string): PicoUsd | null {
    return this.#kept.get(kind)?.usual ?? null;
  }

  note(kind: string, amount: PicoUsd): void {
    const counts = this.#kept.get(kind) ?? new CostCounts();
    this.#kept.delete(kind);
    this.#kept.set(kind, counts);
    counts.add(amount);
    dropOldest(this.#kept, MAX_KEPT);
  }
}
