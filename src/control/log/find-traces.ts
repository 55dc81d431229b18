/** The runs of the calls that filters find, where an index tells them quickly. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { isIndexed } from './log-filter-sql.ts';
import { logConditions } from './log-scope.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import type { RunScope } from './run-conditions.ts';
import { allOf, runSql } from './run-sql.ts';
import { askWithin, type WalkLimits } from './walk-window.ts';

/** With more calls than this that match, runs in order of time have some of them soon. */
const MAX_CALLS = 5_000;

/**
 * Trace ids of all runs with a call that passes the filters; null when there are too many, or it would take longer than
 * half of the time. The client is in a transaction of one snapshot.
 */
export async function findTraces(
  client: pg.ClientBase,
  { accountId, callFilters, to }: RunScope,
  promoted: PromotedKeys,
  { budgetMs }: WalkLimits,
): Promise<readonly string[] | null> {
  if (!callFilters.some((filter) => isIndexed(filter, promoted))) return null;
  const scope = { accountId, filters: callFilters, search: null, from: null, to, excludeRuns: false };
  const conditions = allOf([...logConditions(scope, promoted), sql<SqlBool>`trace_id is not null`]);
  const answer = await askWithin(client, budgetMs / 2, async () => {
    const [row] = await runSql(
      client,
      sql`with few as materialized (select trace_id from llm_requests where ${conditions} limit ${MAX_CALLS + 1})
        select (select count(*) from few)::int as total, array(select distinct trace_id from few) as traces`,
    );
    return row;
  });
  if (answer === undefined || answer === 'too_long' || Number(answer['total']) > MAX_CALLS) return null;
  const { traces } = answer;
  return Array.isArray(traces) ? traces.map(String) : null;
}

/** The calls of such a run are not read one by one. */
const LARGE_RUN_CALLS = 5_000;
const MAX_LARGE_RUNS = 20;

/** Trace ids of the runs with the most calls, where those are very many. */
export async function findLargeRuns(client: pg.ClientBase, accountId: number): Promise<readonly string[]> {
  const { rows } = await client.query<{ trace_id: string }>(
    'select trace_id from llm_runs where account_id = $1 and calls > $2 order by calls desc limit $3',
    [accountId, LARGE_RUN_CALLS, MAX_LARGE_RUNS],
  );
  return rows.map(({ trace_id }) => trace_id);
}
