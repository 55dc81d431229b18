/** The sums over the runs whose latest activity is in a time window: of whole runs, of one moment, and exact. */
import { sql } from 'kysely';
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import { type BucketWidth, chooseBucketMs, listBucketStarts } from './bucket-width.ts';
import { addCallSums, type CallSums, NO_SUMS, readCallSums, SUMS_OF_SUMS } from './call-sums.ts';
import { type Percentiles, readPercentiles } from './percentiles.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { RUN_DURATION_MS, type RunScope, runConditions } from './run-conditions.ts';
import { allOf, runSql } from './run-sql.ts';
import type { TimeWindow } from './summarise-logs.ts';

export interface RunSummary extends Readonly<CallSums>, Percentiles {
  readonly runs: number;
  readonly runs_with_errors: number;
  readonly buckets: readonly {
    readonly start: string;
    readonly runs: number;
    readonly errors: number;
    readonly total_cost: string;
  }[];
  readonly bucket_ms: number;
}

interface Bucket extends Readonly<CallSums> {
  readonly runs: number;
  readonly runsWithErrors: number;
}

const NO_RUNS: Bucket = { ...NO_SUMS, runs: 0, runsWithErrors: 0 };

/** `interval` is the least width of a bucket; null for the narrowest that makes at most 120. */
export async function summariseRuns(
  pool: pg.Pool,
  scope: RunScope,
  window: TimeWindow,
  interval: BucketWidth | null,
): Promise<RunSummary> {
  const bucketMs = chooseBucketMs(window.from, window.to, interval);
  const promoted = await readPromotedKeysFor(pool, scope.accountId, scope.callFilters);
  const where = allOf(runConditions({ ...scope, ...window }, promoted));
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    const rows = await runSql(
      client,
      sql`select date_bin(make_interval(secs => ${bucketMs / 1_000}::float8), r.ended_at, 'epoch'::timestamptz) as start,
        count(*) as runs, count(*) filter (where errors > 0) as runs_with_errors, ${SUMS_OF_SUMS}
        from llm_runs r where ${where} group by 1`,
    );
    const percentiles = await readPercentiles(
      client,
      sql`select ${RUN_DURATION_MS} as value from llm_runs r where ${where}`,
    );
    const byStart = new Map<number, Bucket>();
    for (const row of rows)
      byStart.set(row['start'] instanceof Date ? row['start'].getTime() : 0, {
        ...readCallSums(row),
        runs: Number(row['runs']),
        runsWithErrors: Number(row['runs_with_errors']),
      });
    const found = [...byStart.values()];
    return {
      runs: found.reduce((sum, bucket) => sum + bucket.runs, 0),
      runs_with_errors: found.reduce((sum, bucket) => sum + bucket.runsWithErrors, 0),
      ...addCallSums(found),
      ...percentiles,
      buckets: listBucketStarts(window.from, window.to, bucketMs).map((start) => {
        const { runs, errors, total_cost } = byStart.get(start) ?? NO_RUNS;
        return { start: new Date(start).toISOString(), runs, errors, total_cost };
      }),
      bucket_ms: bucketMs,
    };
  });
}
