/**
 * The exact sums over whole runs whose latest activity is in a time window, in one snapshot. Runs are walked, the latest
 * first, as long as there is time.
 */
import { sql } from 'kysely';
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { type BucketWidth, chooseBucketMs, listBucketStarts } from './bucket-width.ts';
import { addCallSums, type CallSums, NO_SUMS, readCallSums, SUMS_OF_SUMS } from './call-sums.ts';
import { addValues, createDistribution, type Distribution, percentilesOf } from './distribution.ts';
import { findTraces } from './find-traces.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { RUN_DURATION_MS, type RunScope, runConditions } from './run-conditions.ts';
import { allOf, runSql, type SqlRow } from './run-sql.ts';
import type { TimeWindow } from './summarise-logs.ts';
import { limitsLeft, type Slice, WALK_LIMITS, type WalkEnd, type WalkLimits, walkWindow } from './walk-window.ts';

export interface RunSummary extends CallSums {
  readonly p50_duration_ms: number | null;
  readonly p95_duration_ms: number | null;
  readonly runs: number;
  readonly runs_with_errors: number;
  readonly buckets: readonly {
    readonly start: string;
    readonly runs: number;
    readonly errors: number;
    readonly total_cost: string;
  }[];
  readonly bucket_ms: number;
  /** Runs with a latest activity before this time were not read, since the time was spent; null when all were. */
  readonly searched_to: string | null;
}

interface Bucket extends CallSums {
  readonly runs: number;
  readonly runsWithErrors: number;
}

const NO_RUNS: Bucket = { ...NO_SUMS, runs: 0, runsWithErrors: 0 };

/** A filter reads the calls of each run, a dozen or more. */
const FIRST_FILTERED_RUNS = 500;

/** `interval` is the least width of a bucket; null for the narrowest that makes at most 120. */
export async function summariseRuns(
  pool: pg.Pool,
  scope: RunScope,
  window: TimeWindow,
  interval: BucketWidth | null,
  limits: WalkLimits = WALK_LIMITS,
): Promise<RunSummary> {
  const bucketMs = chooseBucketMs(window.from, window.to, interval);
  const promoted = await readPromotedKeysFor(pool, scope.accountId, scope.callFilters);
  return inSnapshot(pool, async (client) => {
    const startedMs = limits.monotonicMs();
    const traces = await findTraces(client, scope, promoted, limits);
    const byStart = new Map<number, Bucket>();
    const durations = createDistribution();
    const readRuns = async (slice: Slice): Promise<boolean> => {
      const conditions = runConditions({ ...scope, ...slice, traces, callsWithin: slice }, promoted);
      const rows = await runSql(
        client,
        sql`select date_bin(make_interval(secs => ${bucketMs / 1_000}::float8), r.ended_at, 'epoch'::timestamptz) as start,
          count(*) as runs, count(*) filter (where errors > 0) as runs_with_errors, ${SUMS_OF_SUMS},
          string_agg(${RUN_DURATION_MS}::text, ' ') as durations
          from llm_runs r where ${allOf(conditions)} group by 1`,
      );
      for (const row of rows) addRow(byStart, durations, row);
      return false;
    };
    const over = { over: 'runs_by_end', accountId: scope.accountId, direction: 'newest_first', ...window } as const;
    const left = limitsLeft(limits, startedMs);
    const sliced = scope.callFilters.length === 0 ? left : { ...left, firstRows: FIRST_FILTERED_RUNS };
    const end = traces === null ? await walkWindow(client, over, sliced, readRuns) : await readWhole(readRuns, window);
    const [p50, p95] = percentilesOf(durations, [0.5, 0.95]);
    const found = [...byStart.values()];
    return {
      runs: found.reduce((sum, bucket) => sum + bucket.runs, 0),
      runs_with_errors: found.reduce((sum, bucket) => sum + bucket.runsWithErrors, 0),
      ...addCallSums(found),
      p50_duration_ms: p50 ?? null,
      p95_duration_ms: p95 ?? null,
      buckets: listBucketStarts(window.from, window.to, bucketMs).map((start) => {
        const { runs, errors, total_cost } = byStart.get(start) ?? NO_RUNS;
        return { start: new Date(start).toISOString(), runs, errors, total_cost };
      }),
      bucket_ms: bucketMs,
      searched_to: end.type === 'time_spent' ? end.searchedTo.toISOString() : null,
    };
  });
}

async function readWhole(read: (slice: Slice) => Promise<boolean>, window: TimeWindow): Promise<WalkEnd> {
  await read(window);
  return { type: 'whole' };
}

/** A bucket may lie in two slices. */
function addRow(byStart: Map<number, Bucket>, durations: Distribution, row: SqlRow): void {
  const start = row['start'] instanceof Date ? row['start'].getTime() : 0;
  const before = byStart.get(start) ?? NO_RUNS;
  byStart.set(start, {
    ...addCallSums([before, readCallSums(row)]),
    runs: before.runs + Number(row['runs']),
    runsWithErrors: before.runsWithErrors + Number(row['runs_with_errors']),
  });
  if (typeof row['durations'] === 'string') addValues(durations, row['durations']);
}
