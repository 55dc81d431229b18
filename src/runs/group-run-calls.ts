/** The calls of runs by one of their properties, with sums: what each model, provider, key or metadata value cost in runs. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { CALL_SUMS, type CallSums, readCallSums, SUMS_OF_SUMS } from './call-sums.ts';
import { metadataValue } from './log-filter-sql.ts';
import { logConditions } from './log-scope.ts';
import { type PromotedKeys, readPromotedKeys } from './promoted-keys.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { runFilterCondition } from './run-conditions.ts';
import type { RunFilters } from './run-filter.ts';
import { allOf, runSql } from './run-sql.ts';

export type RunGrouping =
  | { readonly by: 'model' | 'provider' | 'key' }
  | { readonly by: 'metadata'; readonly key: string };

export interface RunGroupQuery extends RunFilters {
  readonly accountId: number;
  readonly from: Date | null;
  readonly to: Date | null;
}

export interface RunGroup extends Readonly<CallSums> {
  /** Null: not set, or the rest. */
  readonly value: string | null;
  readonly runs: number;
  readonly is_rest: boolean;
}

const MAX_GROUPS = 100;

function valueOfCall(grouping: RunGrouping, promoted: PromotedKeys): RawBuilder<unknown> {
  switch (grouping.by) {
    case 'model':
      return sql`left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS}::int)`;
    case 'provider':
      return sql`provider`;
    case 'key':
      return sql`key_id::text`;
    case 'metadata':
      return sql`left(${metadataValue(grouping.key, promoted)}, ${MAX_VALUE_CHARACTERS}::int)`;
  }
}

/**
 * The window and the filters of calls are about the calls; the others about the run of each. The groups with the most
 * cost, and all others as one: a run in several of these is one run in it.
 */
export async function groupRunCalls(
  pool: pg.Pool,
  grouping: RunGrouping,
  query: RunGroupQuery,
): Promise<readonly RunGroup[]> {
  const { accountId, from, to, callFilters, runFilters } = query;
  const promoted = await readPromotedKeys(pool, accountId);
  const conditions = [
    ...logConditions({ accountId, from, to, filters: callFilters, search: null, excludeRuns: false }, promoted),
    sql<SqlBool>`trace_id is not null`,
  ];
  if (runFilters.length > 0)
    conditions.push(
      sql<SqlBool>`exists (select 1 from llm_runs r where r.account_id = ${accountId} and r.trace_id = calls_of_runs.trace_id
        and ${allOf(runFilters.map(runFilterCondition))})`,
    );
  const rows = await runSql(
    pool,
    sql`with parts as materialized (
      select ${valueOfCall(grouping, promoted)} as value, trace_id, ${CALL_SUMS}
      from llm_requests as calls_of_runs where ${allOf(conditions)} group by 1, 2
    ), whole as (
      select *, sum(total_cost) over (partition by value) as group_cost, sum(calls) over (partition by value) as group_calls
      from parts
    ), ranked as (
      select *, dense_rank() over (order by group_cost desc, group_calls desc, value) as rank from whole
    ), placed as (
      select *, least(rank, ${MAX_GROUPS + 1}::int8) as place from ranked
    )
    select place, min(value) as value, count(distinct trace_id) as runs, ${SUMS_OF_SUMS}
    from placed group by place order by place`,
  );
  return rows.map((row) => {
    const isRest = Number(row['place']) > MAX_GROUPS;
    return {
      value: isRest || typeof row['value'] !== 'string' ? null : row['value'],
      runs: Number(row['runs']),
      ...readCallSums(row),
      is_rest: isRest,
    };
  });
}
