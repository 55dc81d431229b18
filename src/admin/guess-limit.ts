/** How many wrong answers are taken in a minute. One limit for everyone: behind a proxy all come from one address. */

const WINDOW_MS = 60_000;
const MAX_FAILURES = 10;

export interface GuessLimit {
  /** 0 when one more may be tried. */
  readonly waitMs: () => number;
  readonly fail: () => void;
}

export function createGuessLimit(nowMs: () => number = Date.now): GuessLimit {
  /** Times of the latest failures, the oldest first; never more than the limit. */
  let failures: readonly number[] = [];
  return {
    waitMs: () => {
      const [oldest] = failures;
      if (oldest === undefined || failures.length < MAX_FAILURES) return 0;
      return Math.max(0, oldest + WINDOW_MS - nowMs());
    },
    fail: () => {
      failures = [...failures, nowMs()].slice(-MAX_FAILURES);
    },
  };
}
