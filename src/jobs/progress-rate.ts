/** How fast jobs are, by their progress lately. Not stored: after a restart it is learnt anew. */

/** What the average is taken over. */
const WINDOW_MS = 20_000;
/** Less says little: the first chunks are of any size. */
const MIN_WINDOW_MS = 5_000;

export interface ProgressRate {
  /** Notes how far the job is now; units a second, or null as long as that is not known. */
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
