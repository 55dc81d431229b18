/** Recognises a crash loop. It starts and stops nothing. */

const RECENT_MS = 5 * 60_000;
export const CRASH_LOOP_EXITS = 5;
const TELL_INTERVAL_MS = 60_000;
const MAX_COUNTED = 2_000;

export interface CrashLoop {
  /** True when this end is to be logged: always at first, in a crash loop once a minute. */
  readonly ended: (nowMs: number) => boolean;
  readonly recentExits: (nowMs: number) => number;
  readonly isLooping: (nowMs: number) => boolean;
}

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
