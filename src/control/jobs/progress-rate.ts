/** The speed of jobs from their recent progress, relearnt after a restart. */

const WINDOW_MS = 20_000;
/** The first chunks vary too much in size. */
const MIN_WINDOW_MS = 5_000;

export interface ProgressRate {
  /** Records the job's progress. Returns units a second, or null while unknown. */
  readonly note: (jobId: number, done: number, nowMs: number) => number | null;
  readonly forget: (jobId: number) => void;
}

export function createProgressRate(): ProgressRate {
  const notes = new Map<number, (readonly [atMs: number, done: number])[]>();
  return {
    note(jobId, done, nowMs) {
      const kept = (notes.get(jobId) ?? []).filter(([atMs]) => nowMs - atMs <= WINDOW_MS);
      notes.set(jobId, [...kept, [nowMs, done]]);
      const [first] = kept;
      if (first === undefined || nowMs - first[0] < MIN_WINDOW_MS) return null;
      return ((done - first[1]) * 1_000) / (nowMs - first[0]);
    },
    forget: (jobId) => void notes.delete(jobId),
  };
}
