/** How long to wait before what died is started again: 0.25 s, doubling to 10 s, from the start after 30 s of life. */
const FIRST_MS = 250;
const MAX_MS = 10_000;
const RESET_AFTER_MS = 30_000;

export interface BackOff {
  /** The wait before the next start, for something that lived `livedMs`; `limitMs` shortens it. */
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
