/**
 * A set of the numbers that a process gave its calls, kept as ranges: nearly all are in it, in nearly that order, so it
 * stays small. It is what tells a call that comes twice from another one, and a call that never came from one that is
 * still open.
 */

/** Both ends included, ascending, with gaps in between. */
export type OrdinalRanges = readonly (readonly [first: number, last: number])[];

/** Gaps are calls that are open, or lost. Beyond this many the lowest gap is remembered by its size only. */
export const MAX_RANGES = 8_192;

/** As it stands in a file. */
export interface OrdinalsData {
  readonly ranges: OrdinalRanges;
  /** How many numbers of the first range are not in the set; absent for none. */
  readonly gap?: number;
}

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

  /** 0 when it is empty. */
  get highest(): number {
    return this.#ranges.at(-1)?.[1] ?? 0;
  }

  /** False for a number that may be one of the gap's. */
  has(ordinal: number): boolean {
    const index = this.#find(ordinal);
    const range = this.#ranges[index];
    return range !== undefined && range[0] <= ordinal && !(index === 0 && this.#gap > 0);
  }

  /** True when it was not in the set. */
  add(ordinal: number): boolean {
    const ranges = this.#ranges;
    const index = this.#find(ordinal);
    const range = ranges[index];
    if (range !== undefined && range[0] <= ordinal) {
      // In front of the many gaps nobody knows any more which of these came; that one comes twice is far less likely.
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

  /** Takes out a number that was added lately; false when it is not in. */
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
    const ranges = this.#ranges.map(([first, last]) => [first, last] as const);
    return this.#gap === 0 ? { ranges } : { ranges, gap: this.#gap };
  }

  /** Index of the first range that does not end before `ordinal`. Looks at the end first: what comes is mostly the latest. */
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

/** Null when it is not what `toData` makes. */
export function readOrdinals(value: unknown): OrdinalSet | null {
  if (typeof value !== 'object' || value === null || !('ranges' in value) || !Array.isArray(value.ranges)) return null;
  const ranges: [number, number][] = [];
  let after = 0;
  for (const range of value.ranges) {
    if (!Array.isArray(range)) return null;
    const [first, last]: unknown[] = range;
    if (!isOrdinal(first) || !isOrdinal(last) || first <= after || last < first) return null;
    ranges.push([first, last]);
    after = last;
  }
  const gap = 'gap' in value ? value.gap : 0;
  if (gap !== 0 && !isOrdinal(gap)) return null;
  return new OrdinalSet({ ranges, gap });
}

export function isOrdinal(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
