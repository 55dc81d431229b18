/** A job's progress in words. Only what is known: without a total there is no percentage, and no time left. */
import { formatCount, formatDuration } from '../../../src/vocabulary/format-amounts.ts';
import type { Job, JobState } from '../api/jobs.ts';

/** Until then the rate says little. */
const SETTLED_MS = 5_000;

export const JOB_STATES: Readonly<Record<JobState, string>> = {
  queued: 'waiting for other jobs',
  running: 'running',
  paused: 'paused',
  cancelling: 'being cancelled',
  cancelled: 'cancelled',
  done: 'done',
  failed: 'failed',
  stalled: 'not responding; it will resume where it stopped',
};

/** 0..100, rounded down: a hundred means all; null when it is not known how much there is. */
export function jobPercent({ done, total, state }: Job): number | null {
  if (state === 'done') return 100;
  if (total === null) return null;
  return total === 0 ? 0 : Math.min(100, Math.floor((done / total) * 100));
}

/** Whole seconds: more would be a promise. */
function describeRest(seconds: number): string {
  return seconds < 60 ? `${Math.ceil(seconds)} s` : formatDuration(seconds * 1_000);
}

export function describeJob(job: Job, nowMs: number): readonly string[] {
  const { state, phase, done, total, unit, rate_per_second: rate, eta_seconds: eta, started_at: startedAt } = job;
  const percent = jobPercent(job);
  const isSettled = startedAt !== null && nowMs - Date.parse(startedAt) >= SETTLED_MS;
  const isRunning = state === 'running';
  return [
    isRunning ? phase : JOB_STATES[state],
    percent === null || state === 'done' ? '' : `${percent} %`,
    `${formatCount(done)}${total === null ? '' : ` of ${formatCount(total)}`} ${unit}`,
    isRunning && rate !== null && Math.round(rate) > 0 ? `${formatCount(Math.round(rate))}/s` : '',
    isRunning && isSettled && eta !== null ? `${describeRest(eta)} left` : '',
  ].filter((part) => part !== '');
}
