/** The last refused attempts of all proxies, in memory. */
import type { RejectedAttempt } from '../vocabulary/channel.ts';

const MAX_ATTEMPTS = 100;

export interface RecentAttempts {
  readonly add: (attempts: readonly RejectedAttempt[], notShown: number) => void;
  readonly list: () => readonly RejectedAttempt[];
  readonly total: () => number;
  /** How many more were sampled away or pushed out of the list. */
  readonly notShown: () => number;
}

export function createRecentAttempts(): RecentAttempts {
  let kept: readonly RejectedAttempt[] = [];
  let total = 0;
  let lost = 0;
  return {
    add: (attempts, notShown) => {
      const all = [...kept, ...attempts];
      total += attempts.length;
      kept = all.slice(-MAX_ATTEMPTS);
      lost += notShown + all.length - kept.length;
    },
    list: () => kept,
    total: () => total,
    notShown: () => lost,
  };
}
