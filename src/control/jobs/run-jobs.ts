/** Runs the jobs chunk by chunk, in turns, on the node that holds the lock. An unfinished chunk runs again. */

import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  CANCELLED_BY_TIME,
  describeDatabaseError,
  errorCode,
  isConnectionLost,
  isTransient,
} from '../store/database-error.ts';
import { type KeptConnection, keepConnection } from '../store/pool.ts';
import { CHUNK_MS, type JobKind, type Progress } from './job.ts';
import { listActiveJobs, lockJob } from './job-store.ts';
import { createProgressRate, type ProgressRate } from './progress-rate.ts';

/** The number is arbitrary and stays the same in every version. */
export const JOBS_LOCK = 7_461_005;
const POLL_MS = 500;
const RETRY_MS = 2_000;
/** Half a chunk's time is left to others, the shipper above all. */
const PAUSE_SHARE = 0.5;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 4 * CHUNK_MS;
const MAX_ACTIVE = 50;
const MAX_FAILURES = 3;
/** A slow chunk is retried with a quarter of its rows, at most this often. */
const MAX_SLOW_FAILURES = 8;
const MAX_ERROR_CHARS = 500;
/** For the chunk under way, and again after its connection was closed. */
const STOP_LIMIT_MS = 500;

const NEVER = 1_000_000_000;

export interface JobLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface JobsOptions {
  /** One connection is kept for the lock. */
  readonly pool: pg.Pool;
  readonly kinds: readonly JobKind[];
  readonly log: JobLog;
  /** The wait after a chunk that failed, and of a node that does not hold the lock. */
  readonly retryMs?: number;
}

export interface JobRunner {
  /** Ends after the current chunk; a long one is rolled back. */
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly options: JobsOptions;
  readonly rate: ProgressRate;
  readonly nextAtMs: Map<number, number>;
  /** A chunk lost with its connection, to be noted on the next one. */
  lost: { readonly id: number; readonly error: unknown } | null;
}

export function runJobs(options: JobsOptions): JobRunner {
  const running: Running = { options, rate: createProgressRate(), nextAtMs: new Map(), lost: null };
  const { retryMs = RETRY_MS } = options;
  let kept: KeptConnection | null = null;
  let isStopping = false;
  let wake = (): void => {};
  let lastReason = '';

  function drop(): void {
    // The lock belongs to the connection, so it is closed, not returned.
    kept?.close();
    kept = null;
  }

  async function round(): Promise<number> {
    try {
      kept ??= await becomeRunner(options.pool);
      if (kept === null) return retryMs;
      const pauseMs = await runRound(kept.client, running, () => isStopping);
      lastReason = '';
      return pauseMs;
    } catch (error) {
      const reason = describeDatabaseError(error).slice(0, MAX_ERROR_CHARS);
      if (reason !== lastReason && !isStopping) options.log.warn({ reason }, 'jobs cannot go on now');
      lastReason = reason;
      drop();
      return retryMs;
    }
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const pauseMs = await round();
      if (isStopping) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    drop();
  }

  const ended = run();
  return {
    async stop() {
      isStopping = true;
      wake();
      const limit = () => sleep(STOP_LIMIT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([ended, limit()])) !== 'late') return;
      drop();
      await Promise.race([ended, limit()]);
    },
  };
}

/** Returns null when another node runs jobs. */
async function becomeRunner(pool: pg.Pool): Promise<KeptConnection | null> {
  const kept = await keepConnection(pool);
  try {
    const { rows } = await kept.client.query<{ isOurs: boolean }>('select pg_try_advisory_lock($1) as "isOurs"', [
      JOBS_LOCK,
    ]);
    if (rows[0]?.isOurs === true) return kept;
    kept.giveBack();
    return null;
  } catch (error) {
    kept.close();
    throw error;
  }
}

/** Runs one chunk of each job that is due. Returns the pause until the next one. */
async function runRound(client: pg.PoolClient, running: Running, isStopping: () => boolean): Promise<number> {
  const { nextAtMs } = running;
  if (running.lost !== null) await noteFailure(client, running, running.lost.id, running.lost.error);
  running.lost = null;
  const active = await listActiveJobs(client, MAX_ACTIVE);
  for (const id of nextAtMs.keys()) if (!active.some((job) => job.id === id)) forget(running, id);
  for (const { id, kind: name } of active) {
    const kind = running.options.kinds.find((known) => known.kind === name);
    // A newer release asked for it and will run it.
    if (kind === undefined) continue;
    if ((nextAtMs.get(id) ?? 0) > performance.now()) continue;
    if (isStopping()) return 0;
    nextAtMs.set(id, performance.now() + (await runOne(client, running, id, kind)));
  }
  const soonestMs = Math.min(...nextAtMs.values(), Number.POSITIVE_INFINITY) - performance.now();
  return Math.max(0, Math.min(POLL_MS, soonestMs));
}

function forget({ nextAtMs, rate }: Running, id: number): void {
  nextAtMs.delete(id);
  rate.forget(id);
}

/** Returns the pause after it. Throws when the connection is at fault. */
async function runOne(client: pg.PoolClient, running: Running, id: number, kind: JobKind): Promise<number> {
  const startedMs = performance.now();
  try {
    await client.query('begin');
    const job = await lockJob(client, id);
    if (job === null) {
      await client.query('rollback');
      return 0;
    }
    const progress = await kind.runChunk(client, job);
    await storeProgress(client, id, progress, running.rate.note(id, progress.done, performance.now()));
    await client.query('commit');
    if (progress.result !== null)
      running.options.log.info({ job: id, title: job.title, result: progress.result }, 'a job is done');
    if (progress.pauseMs !== undefined) return progress.pauseMs;
    return Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, (performance.now() - startedMs) * PAUSE_SHARE));
  } catch (error) {
    if (isConnectionLost(error) || !(await isRolledBack(client))) {
      // The chunk is lost with its connection; the first error is reported.
      running.lost = { id, error };
      throw error;
    }
    await noteFailure(client, running, id, error);
    return running.options.retryMs ?? RETRY_MS;
  }
}

async function isRolledBack(client: pg.ClientBase): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  );
}

/** How many failures end the job. A broken connection only reduces the rows. */
function maxFailuresOf(error: unknown): number {
  if (isConnectionLost(error)) return NEVER;
  return errorCode(error) === CANCELLED_BY_TIME ? MAX_SLOW_FAILURES : MAX_FAILURES;
}

async function storeProgress(
  client: pg.ClientBase,
  id: number,
  { phase, cursor, done, total, result }: Progress,
  ratePerSecond: number | null,
): Promise<void> {
  const isDone = result !== null;
  await client.query(
    `update jobs set state = $2, phase = $3, cursor = $4, done = $5, total = $6, rate_per_second = $7, result = $8,
       failures = 0, error = null, heartbeat_at = clock_timestamp(), started_at = coalesce(started_at, now()),
       finished_at = case when $9 then clock_timestamp() end
     where id = $1`,
    [
      id,
      isDone ? 'done' : 'running',
      phase,
      JSON.stringify(cursor),
      done,
      total,
      isDone ? null : ratePerSecond,
      isDone ? JSON.stringify(result) : null,
      isDone,
    ],
  );
}

/** A temporary obstacle does not count; repeated failures end the job until it is resumed. */
async function noteFailure(
  client: pg.ClientBase,
  { options, rate }: Running,
  id: number,
  error: unknown,
): Promise<void> {
  const reason = describeDatabaseError(error).slice(0, MAX_ERROR_CHARS);
  rate.forget(id);
  const { rows } = await client.query<{ state: string }>(
    `update jobs set error = $2, rate_per_second = null, heartbeat_at = clock_timestamp(),
       failures = failures + $3,
       state = case when failures + $3 >= $4 then 'failed' else state end,
       finished_at = case when failures + $3 >= $4 then clock_timestamp() end
     where id = $1 and state in ('queued', 'running') returning state`,
    [id, reason, isTransient(error) ? 0 : 1, maxFailuresOf(error)],
  );
  if (rows[0]?.state === 'failed') options.log.error({ job: id, err: error }, 'a job failed');
  else options.log.warn({ job: id, reason }, 'a chunk of a job was undone; it is tried again');
}
