/** Reproducible pseudo-random numbers for demo data. */

export interface SeededRandom {
  /** In [0, 1). */
  readonly next: () => number;
  readonly between: (lowest: number, highest: number) => number;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  readonly bytes: (length: number) => Buffer;
}

/** Mulberry32, with 32 bits of state. Not for secrets. */
export function createSeededRandom(seed: number): SeededRandom {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }
  return {
    next,
    between: (lowest, highest) => lowest + Math.floor(next() * (highest - lowest + 1)),
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    bytes: (length) => Buffer.from(Array.from({ length }, () => Math.floor(next() * 256))),
  };
}
