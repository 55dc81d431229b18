/** Runs without an ended call. They have no roll-up and no sums, and no filter of calls matches them. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { SUMMED_COLUMNS } from './call-sums.ts';
import { NO_PROMOTED_KEYS } from './promoted-keys.ts';
import { type RunScope, runConditions } from './run-conditions.ts';
import { RUN_COLUMNS, type RunRow, readRunRow } from './run-row.ts';
import { allOf, runSql } from './run-sql.ts';

/** Latest beginning first; a run's activity is the beginning of its latest call. */
export async function listBegunRuns(client: pg.ClientBase, scope: RunScope, limit: number): Promise<readonly RunRow[]> {
  if (scope.callFilters.length > 0) return [];
  const hasNoRow = sql<SqlBool>`not exists (select 1 from llm_runs known
    where known.account_id = r.account_id and known.trace_id = r.trace_id)`;
  const rows = await runSql(
    client,
    sql`select ${sql.raw(RUN_COLUMNS)} from (
      select account_id, trace_id, ${sql.join(SUMMED_COLUMNS.map((name) => sql`0::int8 as ${sql.ref(name)}`))},
        min(requested_at) as started_at, max(requested_at) as ended_at, null::timestamptz as cut_at
      from llm_open_calls where account_id = ${scope.accountId} and trace_id is not null group by account_id, trace_id
    ) r where ${allOf([...runConditions(scope, NO_PROMOTED_KEYS), hasNoRow])} order by r.started_at desc, r.trace_id desc limit ${limit}`,
  );
  return rows.map(readRunRow);
}
