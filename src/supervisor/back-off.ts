/** The wait before a restart: 0.25 s, doubling to 10 s, reset after a life of 30 s. */
const FIRST_MS = 250;
const MAX_MS = 10_000;
const RESET_AFTER_MS = 30_000;

export interface BackOff {
  readonly next: (livedMs: number, limitMs?: number) => number;
}

export function createBackOff(): BackOff {
  let waitMs = FIRST_MS;
  return {
    next: (livedMs, limitMs = MAX_MS) => {
      const current = Math.min(livedMs >= RESET_AFTER_MS ? FIRST_MS : waitMs, limitMs);
      waitMs = Math.min(MAX_MS, current * 2);
      return current;
    },
  };
}
