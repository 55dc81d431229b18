/** The sums over the calls of a time window, and over its parts: of one moment, and exact. */
import { sql } from 'kysely';
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import { type BucketWidth, chooseBucketMs, listBucketStarts } from './bucket-width.ts';
import { addCallSums, CALL_SUMS, type CallSums, NO_SUMS, readCallSums } from './call-sums.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { type Percentiles, readPercentiles } from './percentiles.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { allOf, runSql } from './run-sql.ts';

export interface TimeWindow {
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive, and after `from`. */
  readonly to: Date;
}

export interface LogSummary extends Readonly<CallSums>, Percentiles {
  readonly buckets: readonly (Pick<CallSums, 'calls' | 'errors' | 'total_cost' | 'unpriced_calls'> & {
    readonly start: string;
  })[];
  readonly bucket_ms: number;
}

/** `interval` is the least width of a bucket; null for the narrowest that makes at most 120. */
export async function summariseLogs(
  pool: pg.Pool,
  scope: LogScope,
  window: TimeWindow,
  interval: BucketWidth | null,
): Promise<LogSummary> {
  const bucketMs = chooseBucketMs(window.from, window.to, interval);
  const promoted = await readPromotedKeysFor(pool, scope.accountId, scope.filters);
  const where = allOf(logConditions({ ...scope, ...window }, promoted));
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    const rows = await runSql(
      client,
      sql`select date_bin(make_interval(secs => ${bucketMs / 1_000}::float8), requested_at, 'epoch'::timestamptz) as start,
        ${CALL_SUMS} from llm_requests where ${where} group by 1`,
    );
    const percentiles = await readPercentiles(
      client,
      sql`select duration_ms as value from llm_requests where ${where}`,
    );
    const byStart = new Map(
      rows.map((row) => [row['start'] instanceof Date ? row['start'].getTime() : 0, readCallSums(row)]),
    );
    const buckets = listBucketStarts(window.from, window.to, bucketMs).map((start) => {
      const { calls, errors, total_cost, unpriced_calls } = byStart.get(start) ?? NO_SUMS;
      return { start: new Date(start).toISOString(), calls, errors, total_cost, unpriced_calls };
    });
    return { ...addCallSums([...byStart.values()]), ...percentiles, buckets, bucket_ms: bucketMs };
  });
}
