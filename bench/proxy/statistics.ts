/** Medians, and how far a median of few rounds can be trusted. Pure; nothing here knows what is measured. */

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** A small generator with a fixed seed: the same rounds give the same interval each time. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The 95 % interval of the median by resampling the rounds with replacement. */
export function bootstrapInterval(values: readonly number[], resamples = 4000): Interval {
  const random = createRandom(20261127);
  const medians = Array.from({ length: resamples }, () =>
    median(values.map(() => values[Math.floor(random() * values.length)] ?? Number.NaN)),
  ).sort((a, b) => a - b);
  const at = (share: number) => medians[Math.min(resamples - 1, Math.floor(share * resamples))] ?? Number.NaN;
  return { low: at(0.025), high: at(0.975) };
}
