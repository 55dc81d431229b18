/** Which models, providers, keys and promoted metadata the runs of a time window used, and in how many runs. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { type RunScope, runConditions } from './run-conditions.ts';
import { allOf, runSql } from './run-sql.ts';

const MAX_FACET_VALUES = 20;
const FIRST_FACETS: readonly string[] = ['model', 'provider', 'key'];

export interface RunFacets {
  readonly data: readonly {
    readonly facet: string;
    readonly values: readonly { readonly value: string; readonly runs: number }[];
  }[];
}

/** The window is about the activity with the value; the other filters are about the run. */
export async function countRunFacets(pool: pg.Pool, scope: RunScope): Promise<RunFacets> {
  const promoted = await readPromotedKeysFor(pool, scope.accountId, scope.callFilters);
  const conditions = [sql<SqlBool>`f.account_id = ${scope.accountId}`];
  if (scope.from !== null) conditions.push(sql<SqlBool>`f.last_activity_at >= ${scope.from}`);
  if (scope.to !== null) conditions.push(sql<SqlBool>`f.last_activity_at < ${scope.to}`);
  if (scope.callFilters.length > 0 || scope.runFilters.length > 0 || scope.search !== null)
    conditions.push(
      sql<SqlBool>`exists (select 1 from llm_runs r where r.trace_id = f.trace_id
        and ${allOf(runConditions({ ...scope, from: null, to: null }, promoted))})`,
    );
  const rows = await runSql(
    pool,
    sql`select facet, value, runs from (
      select facet, value, count(*) as runs, row_number() over (partition by facet order by count(*) desc, value) as place
      from llm_run_facets f where ${allOf(conditions)} group by facet, value
    ) ranked where place <= ${MAX_FACET_VALUES} order by facet, place`,
  );
  const found = Map.groupBy(rows, (row) => String(row['facet']));
  const names = new Set([...FIRST_FACETS, ...found.keys()]);
  return {
    data: [...names].map((facet) => ({
      facet,
      values: (found.get(facet) ?? []).map((row) => ({ value: String(row['value']), runs: Number(row['runs']) })),
    })),
  };
}
