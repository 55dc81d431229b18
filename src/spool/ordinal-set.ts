/** A set of call ordinals kept as ranges, which stay few because ordinals come nearly in order and complete. */

import { z } from 'zod';

/** Gaps are open or lost calls. Beyond this, the lowest gap is kept as a count only. */
export const MAX_RANGES = 8_192;

const Ordinal = z.number().int().positive();

export const OrdinalsData = z
  .object({
    /** Inclusive, ascending, disjoint. */
    ranges: z.array(z.tuple([Ordinal, Ordinal])),
    /** How many ordinals of the first range are missing; absent for none. */
    gap: z.number().int().nonnegative().optional(),
  })
  .refine(({ ranges }) =>
    ranges.every(([first, last], index) => first <= last && first > (ranges[index - 1]?.[1] ?? 0)),
  );
export type OrdinalsData = z.infer<typeof OrdinalsData>;

export class OrdinalSet {
  readonly #ranges: [first: number, last: number][];
  #gap: number;
  #size: number;

  constructor(data: OrdinalsData = { ranges: [] }) {
    this.#ranges = data.ranges.map(([first, last]) => [first, last]);
    this.#gap = data.gap ?? 0;
    this.#size = this.#ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0) - this.#gap;
  }

  get size(): number {
    return this.#size;
  }

  /** False for an ordinal that may be in the gap. */
  has(ordinal: number): boolean {
    const index = this.#find(ordinal);
    const range = this.#ranges[index];
    return range !== undefined && range[0] <= ordinal && !(index === 0 && this.#gap > 0);
  }

  /** True when it was new. */
  add(ordinal: number): boolean {
    const ranges = this.#ranges;
    const index = this.#find(ordinal);
    const range = ranges[index];
    if (range !== undefined && range[0] <= ordinal) {
      // In the merged range, a late ordinal is more likely new than repeated.
      if (index > 0 || this.#gap === 0) return false;
      this.#gap -= 1;
    } else {
      const before = ranges[index - 1];
      const joinsBefore = before !== undefined && before[1] === ordinal - 1;
      const joinsRange = range !== undefined && range[0] === ordinal + 1;
      if (joinsBefore && joinsRange) {
        before[1] = range[1];
        ranges.splice(index, 1);
      } else if (joinsBefore) before[1] = ordinal;
      else if (joinsRange) range[0] = ordinal;
      else ranges.splice(index, 0, [ordinal, ordinal]);
    }
    this.#size += 1;
    if (ranges.length > MAX_RANGES) this.#closeLowestGap();
    return true;
  }

  /** Removes a recent ordinal; false when it is not in. */
  delete(ordinal: number): boolean {
    if (!this.has(ordinal)) return false;
    const index = this.#find(ordinal);
    const [first, last] = this.#ranges[index] ?? [ordinal, ordinal];
    const parts: [number, number][] = [];
    if (first < ordinal) parts.push([first, ordinal - 1]);
    if (ordinal < last) parts.push([ordinal + 1, last]);
    this.#ranges.splice(index, 1, ...parts);
    this.#size -= 1;
    return true;
  }

  *[Symbol.iterator](): Generator<number> {
    for (const [first, last] of this.#ranges) for (let ordinal = first; ordinal <= last; ordinal += 1) yield ordinal;
  }

  toData(): OrdinalsData {
    const ranges = this.#ranges.map(([first, last]): [number, number] => [first, last]);
    return this.#gap === 0 ? { ranges } : { ranges, gap: this.#gap };
  }

  /** Index of the first range that does not end before `ordinal`. Tries the end first. */
  #find(ordinal: number): number {
    let low = 0;
    let high = this.#ranges.length;
    if ((this.#ranges[high - 1]?.[1] ?? 0) < ordinal) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ranges[middle]?.[1] ?? 0) < ordinal) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #closeLowestGap(): void {
    const [first, second] = this.#ranges;
    if (first === undefined || second === undefined) return;
    this.#gap += second[0] - first[1] - 1;
    first[1] = second[1];
    this.#ranges.splice(1, 1);
  }
}
