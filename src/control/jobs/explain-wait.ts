/** Explains why a requested job has not begun or does not go on. */
import type pg from 'pg';
import { describeLockHolder, readLockHolder } from '../store/lock-holder.ts';
import type { Job } from './job.ts';
import { JOBS_LOCK } from './run-jobs.ts';

/** A job mostly begins within a second, and every chunk is a sign of life. */
const USUAL_WAIT_MS = 3_000;
const USUAL_CHUNK_MS = 30_000;

export function isKeptWaiting({ state, error, createdAt, heartbeatAt }: Job, nowMs: number): boolean {
  if (error !== null) return false;
  if (state === 'queued') return nowMs - createdAt.getTime() > USUAL_WAIT_MS;
  return state === 'running' && nowMs - heartbeatAt.getTime() > USUAL_CHUNK_MS;
}

export async function explainWait(pool: pg.Pool): Promise<string> {
  const holder = await readLockHolder(pool, JOBS_LOCK);
  if (holder === null) return 'no node runs jobs at the moment';
  return `${describeLockHolder(holder)} runs the jobs of all nodes and has not come to it: it is busy, or of a release that does not know this kind of job`;
}
