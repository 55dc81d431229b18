/** The last refused attempts of all proxies, for "why does nothing arrive?": bounded, in memory, gone with a restart. */
import type { RejectedAttempt } from '../channel.ts';

const MAX_ATTEMPTS = 100;

export interface RecentAttempts {
  readonly add: (attempts: readonly RejectedAttempt[], notShown: number) => void;
  /** Newest last. */
  readonly list: () => readonly RejectedAttempt[];
  /** How many were ever in the list. */
  readonly total: () => number;
  /** How many more were sampled away or pushed out. */
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
