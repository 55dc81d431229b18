/**
 * Runs of which no call has ended: they have no roll-up yet. They are in lists all the same, with no sums. A filter of
 * calls is about calls that have ended, so none of these matches one.
 */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { NO_PROMOTED_KEYS } from './promoted-keys.ts';
import { type RunScope, runConditions } from './run-conditions.ts';
import { RUN_COLUMNS, type RunRow, readRunRow } from './run-row.ts';
import { allOf, runSql } from './run-sql.ts';

/** The latest begun first. Their activity is the beginning of their latest call. */
export async function listBegunRuns(pool: pg.Pool, scope: RunScope, limit: number): Promise<readonly RunRow[]> {
  if (scope.callFilters.length > 0) return [];
  const hasNoRow = sql<SqlBool>`not exists (select 1 from llm_runs known
    where known.account_id = r.account_id and known.trace_id = r.trace_id)`;
  const rows = await runSql(
    pool,
    sql`select ${sql.raw(RUN_COLUMNS)} from (
      select account_id, trace_id, 0::int8 as calls, 0::int8 as errors, 0::int8 as client_closed_calls,
        0::int8 as unpriced_calls,
        0::numeric as total_cost, 0::int8 as input_tokens, 0::int8 as cache_read_input_tokens,
        0::int8 as cache_creation_input_tokens, 0::int8 as output_tokens, 0::int8 as reasoning_tokens,
        min(requested_at) as started_at, max(requested_at) as ended_at, null::timestamptz as cut_at
      from llm_open_calls where account_id = ${scope.accountId} and trace_id is not null group by account_id, trace_id
    ) r where ${allOf([...runConditions(scope, NO_PROMOTED_KEYS), hasNoRow])} order by r.started_at desc, r.trace_id desc limit ${limit}`,
  );
  return rows.map(readRunRow);
}
