/** Median and 95th percentile of whole numbers, exact, by counting equal ones: nothing is sorted that is as long as the log. */
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { runSql } from './run-sql.ts';

export interface Percentiles {
  readonly p50_duration_ms: number | null;
  readonly p95_duration_ms: number | null;
}

function toNumber(value: unknown): number | null {
  return value === null || value === undefined ? null : Number(value);
}

/** `source` is a query with one column `value`; nulls do not count. The least value that the share of all does not exceed. */
export async function readPercentiles(client: pg.ClientBase, source: RawBuilder<unknown>): Promise<Percentiles> {
  const [row] = await runSql(
    client,
    sql`with counted as (
      select value, count(*) as times from (${source}) as given where value is not null group by value
    ), ranked as (
      select value, sum(times) over (order by value) as up_to, sum(times) over () as all_times from counted
    )
    select min(value) filter (where up_to >= 0.5 * all_times) as p50,
      min(value) filter (where up_to >= 0.95 * all_times) as p95
    from ranked`,
  );
  return { p50_duration_ms: toNumber(row?.['p50']), p95_duration_ms: toNumber(row?.['p95']) };
}
