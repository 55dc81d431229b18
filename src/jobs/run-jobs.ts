/**
 * Runs the jobs, chunk by chunk, as long as the process lives and holds the lock on it: of several nodes one does. Jobs
 * take turns. What a process that was killed had under way has not happened, and goes on at the next start by itself.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type KeptConnection, keepConnection } from '../store/pool.ts';
import { CHUNK_MS, type JobKind, type Progress } from './job.ts';
import { listActiveJobs, lockJob } from './job-store.ts';
import { createProgressRate, type ProgressRate } from './progress-rate.ts';

/** Any number, the same in every version: who holds it runs jobs. */
export const JOBS_LOCK = 7_461_005;
const POLL_MS = 500;
/** Another node runs them; or the database is away. */
const RETRY_MS = 2_000;
/** Each chunk is followed by half its time for others, the shipper above all. */
const PAUSE_SHARE = 0.5;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 4 * CHUNK_MS;
const MAX_ACTIVE = 50;
const MAX_FAILURES = 3;
/** Of chunks that took too long: each next one is a quarter as large. */
const MAX_SLOW_FAILURES = 8;
const MAX_ERROR_CHARS = 500;
/** For the chunk under way, and as long again once its connection was closed. */
const STOP_LIMIT_MS = 500;

/**
 * Serialization failure, deadlock, lock not available; resources (53) and the system (58): the same later. Everything
 * else counts against the job. https://www.postgresql.org/docs/18/errcodes-appendix.html
 */
const TRANSIENT = /^(?:40001|40P01|55P03|53...|58...)$/;
/** Cancelled by the limit of time: fewer rows may be what helps. */
const TOO_SLOW = '57014';
/** The connection was ended by the server, or by the network. */
const LOST = /^(?:08...|57P0[1-5]|ECONNRESET|EPIPE|ETIMEDOUT)$/;
const NEVER = 1_000_000_000;

export interface JobLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void;
  warn(fields: Readonly<Record<string, unknown>>, message: string): void;
  error(fields: Readonly<Record<string, unknown>>, message: string): void;
}

export interface JobsOptions {
  /** One connection is kept, with the lock on it. */
  readonly pool: pg.Pool;
  readonly kinds: readonly JobKind[];
  readonly log: JobLog;
}

export interface JobRunner {
  /** Ends after the chunk under way; one that takes long is undone. */
  readonly stop: () => Promise<void>;
}

interface Running {
  readonly options: JobsOptions;
  readonly rate: ProgressRate;
  /** When the next chunk of a job may begin, by `performance.now()`. */
  readonly nextAtMs: Map<number, number>;
  /** A chunk that was lost with its connection; noted on the next one. */
  lost: { readonly id: number; readonly error: unknown } | null;
}

export function runJobs(options: JobsOptions): JobRunner {
  const running: Running = { options, rate: createProgressRate(), nextAtMs: new Map(), lost: null };
  let kept: KeptConnection | null = null;
  let isStopping = false;
  let wake = (): void => {};
  let lastReason = '';

  function drop(): void {
    // Closed and not given back: the lock belongs to the connection.
    kept?.close();
    kept = null;
  }

  /** Returns the pause before the next round. */
  async function round(): Promise<number> {
    try {
      kept ??= await becomeRunner(options.pool);
      if (kept === null) return RETRY_MS;
      const pauseMs = await runRound(kept.client, running, () => isStopping);
      lastReason = '';
      return pauseMs;
    } catch (error) {
      const reason = describeError(error);
      if (reason !== lastReason && !isStopping) options.log.warn({ reason }, 'jobs cannot go on now');
      lastReason = reason;
      drop();
      return RETRY_MS;
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

/** Null when another one is. */
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

/** One chunk of each job whose time has come. Returns the pause until the next one's. */
async function runRound(client: pg.PoolClient, running: Running, isStopping: () => boolean): Promise<number> {
  const { nextAtMs } = running;
  if (running.lost !== null) await noteFailure(client, running, running.lost.id, running.lost.error);
  running.lost = null;
  const active = await listActiveJobs(client, MAX_ACTIVE);
  for (const id of nextAtMs.keys()) if (!active.some((job) => job.id === id)) forget(running, id);
  for (const { id, kind: name } of active) {
    const kind = running.options.kinds.find((known) => known.kind === name);
    // Of a newer version, which will run it.
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
    if (hasNoConnection(error) || !(await isRolledBack(client))) {
      // The connection is gone, and with it the chunk; the first error is the one that tells.
      running.lost = { id, error };
      throw error;
    }
    await noteFailure(client, running, id, error);
    return RETRY_MS;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

async function isRolledBack(client: pg.ClientBase): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  );
}

/** The driver's own words: nothing that is asked on it would be answered. */
function hasNoConnection(error: unknown): boolean {
  return (
    error instanceof Error && /^(?:Query read timeout|Connection terminated|Client has encountered)/.test(error.message)
  );
}

/** How many of them end the job. A connection that breaks says nothing against it: it is only tried with fewer rows. */
function maxFailuresOf(error: unknown): number {
  if (hasNoConnection(error) || LOST.test(codeOf(error))) return NEVER;
  return codeOf(error) === TOO_SLOW ? MAX_SLOW_FAILURES : MAX_FAILURES;
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

/**
 * What is only in the way at the moment does not count; what fails again and again ends the job, until it is resumed.
 */
async function noteFailure(
  client: pg.ClientBase,
  { options, rate }: Running,
  id: number,
  error: unknown,
): Promise<void> {
  const reason = describeError(error);
  const isTransient = error instanceof pg.DatabaseError && TRANSIENT.test(error.code ?? '');
  rate.forget(id);
  const { rows } = await client.query<{ state: string }>(
    `update jobs set error = $2, rate_per_second = null, heartbeat_at = clock_timestamp(),
       failures = failures + $3,
       state = case when failures + $3 >= $4 then 'failed' else state end,
       finished_at = case when failures + $3 >= $4 then clock_timestamp() end
     where id = $1 and state in ('queued', 'running') returning state`,
    [id, reason, isTransient ? 0 : 1, maxFailuresOf(error)],
  );
  if (rows[0]?.state === 'failed') options.log.error({ job: id, err: error }, 'a job failed');
  else options.log.warn({ job: id, reason }, 'a chunk of a job was undone; it is tried again');
}

/** Without the values that PostgreSQL quotes in `detail`. */
function describeError(error: unknown): string {
  const text =
    error instanceof pg.DatabaseError
      ? `${error.code ?? 'no code'}: ${error.message}`
      : error instanceof Error
        ? `${error.name}: ${error.message}`
        : 'unknown error';
  return text.slice(0, MAX_ERROR_CHARS);
}
