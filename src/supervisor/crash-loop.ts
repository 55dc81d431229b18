/** Counts how often something ended unasked, and says when that is a crash loop. It starts and stops nothing. */

/** As far back as is counted, and as is said to people. */
const RECENT_MS = 5 * 60_000;
/** That often within this time, something will not mend itself. */
export const CRASH_LOOP_EXITS = 5;
/** In a crash loop each end is no news any more. */
const TELL_INTERVAL_MS = 60_000;
/** More are not told apart; with the shortest wait of a back-off there can be no more anyway. */
const MAX_COUNTED = 2_000;

export interface CrashLoop {
  /** It ended. True when that is to be logged: always at first, in a crash loop once a minute. */
  readonly ended: (nowMs: number) => boolean;
  readonly recentExits: (nowMs: number) => number;
  readonly isLooping: (nowMs: number) => boolean;
}

/** Times are of one steady clock, which no step of the system's time moves. */
export function createCrashLoop(): CrashLoop {
  let exits: readonly number[] = [];
  let toldMs = Number.NEGATIVE_INFINITY;
  const recent = (nowMs: number) => exits.filter((exitMs) => exitMs > nowMs - RECENT_MS);
  return {
    ended: (nowMs) => {
      exits = [...recent(nowMs), nowMs].slice(-MAX_COUNTED);
      if (exits.length > CRASH_LOOP_EXITS && nowMs - toldMs < TELL_INTERVAL_MS) return false;
      toldMs = nowMs;
      return true;
    },
    recentExits: (nowMs) => recent(nowMs).length,
    isLooping: (nowMs) => recent(nowMs).length >= CRASH_LOOP_EXITS,
  };
}
