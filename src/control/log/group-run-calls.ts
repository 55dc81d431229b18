/**
 * The cost of runs by model, provider, key or metadata value of their calls. The sums are read from hours where these
 * answer; else calls are walked, the newest first, as long as there is time. How many runs there are in a group is in no
 * roll-up, so that they are always walked for.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { addCallSums, CALL_SUMS, type CallSums, readCallSums, SUMMED_COLUMNS, SUMS_OF_SUMS } from './call-sums.ts';
import type { CostGroup } from './cost-query.ts';
import { findRuns } from './find-runs.ts';
import { readHourlyCosts } from './list-costs.ts';
import { metadataValue } from './log-filter-sql.ts';
import { logConditions } from './log-scope.ts';
import { type PromotedKeys, readPromotedKeys } from './promoted-keys.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { runFilterCondition, searchCondition } from './run-conditions.ts';
import type { RunFilters } from './run-filter.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import { WALK_LIMITS, type WalkLimits, walkWindow } from './walk-window.ts';

export type RunGrouping =
  | { readonly by: 'model' | 'provider' | 'key' }
  | { readonly by: 'metadata'; readonly key: string };

export interface RunGroupQuery extends RunFilters {
  readonly accountId: number;
  /** Of runs, as in `RunScope`; null for no search. */
  readonly search: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
}

export interface RunGroup extends CallSums {
  /** Null when not set, and for the rest. */
  readonly value: string | null;
  readonly runs: number;
  readonly is_rest: boolean;
}

export interface RunGroups {
  readonly groups: readonly RunGroup[];
  /** Calls before it are in no sum, since the time was spent; null when all are. */
  readonly searchedTo: Date | null;
  /** Runs without a call since then are not counted; null when all are. */
  readonly runsSearchedTo: Date | null;
}

interface FoundQuery extends RunGroupQuery {
  /** As in `RunScope`. */
  readonly foundRuns: readonly string[] | null;
}

const MAX_GROUPS = 100;

const PART_COLUMNS = ['value', 'trace_id', ...SUMMED_COLUMNS];
const PART_TYPES = ['text', 'text', ...SUMMED_COLUMNS.map((column) => (column === 'total_cost' ? 'numeric' : 'int8'))];

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

/** The window and call filters apply to the calls, the others and the search to their run. Groups come by cost, the others as one. */
export async function groupRunCalls(
  pool: pg.Pool,
  grouping: RunGrouping,
  query: RunGroupQuery,
  limits: WalkLimits = WALK_LIMITS,
): Promise<RunGroups> {
  return inSnapshot(pool, async (client) => {
    const promoted = await readPromotedKeys(client, query.accountId);
    const foundRuns = query.search === null ? null : await findRuns(client, query.accountId, query.search);
    const found = { ...query, foundRuns };
    return (
      (await groupByHours(client, grouping, found, promoted, limits)) ??
      (await groupWalked(client, grouping, found, promoted, limits))
    );
  });
}

function costGroupOf(grouping: RunGrouping): CostGroup {
  return grouping.by === 'metadata' ? { type: 'metadata', key: grouping.key } : { type: 'column', column: grouping.by };
}

/** Null where the hours do not answer. */
async function groupByHours(
  client: pg.ClientBase,
  grouping: RunGrouping,
  query: FoundQuery,
  promoted: PromotedKeys,
  limits: WalkLimits,
): Promise<RunGroups | null> {
  const { accountId, from, to, callFilters, runFilters, search } = query;
  if (runFilters.length > 0 || search !== null) return null;
  const costs = await readHourlyCosts(
    client,
    {
      accountId,
      groups: [costGroupOf(grouping)],
      interval: 'none',
      from,
      to,
      timeZone: 'UTC',
      filters: callFilters,
      limit: MAX_GROUPS,
      onlyRuns: true,
    },
    0,
    limits,
  );
  if (costs === null) return null;
  const { runs, searchedTo } = await countRuns(client, grouping, query, promoted, limits);
  const shown = new Set(costs.rows.map(({ group: [value = null] }) => value));
  const others = new Set([...runs].flatMap(([value, traces]) => (shown.has(value) ? [] : [...traces])));
  const groups = costs.rows.map((row) => {
    const [value = null] = row.group;
    return { ...addCallSums([row]), value, runs: runs.get(value)?.size ?? 0, is_rest: false };
  });
  if (costs.rest === null) return { groups, searchedTo: costs.searchedTo, runsSearchedTo: searchedTo };
  const rest = { ...addCallSums([costs.rest]), value: null, runs: others.size, is_rest: true };
  return { groups: [...groups, rest], searchedTo: costs.searchedTo, runsSearchedTo: searchedTo };
}

interface CountedRuns {
  /** Trace ids by value. */
  readonly runs: ReadonlyMap<string | null, ReadonlySet<string>>;
  readonly searchedTo: Date | null;
}

/** Half of the time: the sums took some as well. */
async function countRuns(
  client: pg.ClientBase,
  grouping: RunGrouping,
  query: FoundQuery,
  promoted: PromotedKeys,
  limits: WalkLimits,
): Promise<CountedRuns> {
  const runs = new Map<string | null, Set<string>>();
  const half = { ...limits, budgetMs: limits.budgetMs / 2 };
  const searchedTo = await walkCalls(client, query, promoted, half, async (where) => {
    const rows = await runSql(
      client,
      sql`select distinct ${valueOfCall(grouping, promoted)} as value, trace_id
        from llm_requests as calls_of_runs where ${where}`,
    );
    for (const row of rows) {
      const value = typeof row['value'] === 'string' ? row['value'] : null;
      const traces = runs.get(value) ?? new Set();
      traces.add(String(row['trace_id']));
      runs.set(value, traces);
    }
  });
  return { runs, searchedTo };
}

async function groupWalked(
  client: pg.ClientBase,
  grouping: RunGrouping,
  query: FoundQuery,
  promoted: PromotedKeys,
  limits: WalkLimits,
): Promise<RunGroups> {
  const parts: SqlRow[] = [];
  const searchedTo = await walkCalls(client, query, promoted, limits, async (where) => {
    parts.push(
      ...(await runSql(
        client,
        sql`select ${valueOfCall(grouping, promoted)} as value, trace_id, ${CALL_SUMS}
          from llm_requests as calls_of_runs where ${where} group by 1, 2`,
      )),
    );
  });
  return { groups: await rankGroups(client, parts), searchedTo, runsSearchedTo: searchedTo };
}

/** Returns the time before which no calls were read; null when all were. */
async function walkCalls(
  client: pg.ClientBase,
  query: FoundQuery,
  promoted: PromotedKeys,
  limits: WalkLimits,
  read: (where: Condition) => Promise<void>,
): Promise<Date | null> {
  const { accountId, from, to } = query;
  const over = { over: 'calls', accountId, direction: 'newest_first', from, to } as const;
  const end = await walkWindow(client, over, limits, async (slice) => {
    await read(allOf(callConditions({ ...query, ...slice }, promoted)));
    return false;
  });
  return end.type === 'time_spent' ? end.searchedTo : null;
}

function callConditions(query: FoundQuery, promoted: PromotedKeys): readonly Condition[] {
  const { accountId, from, to, callFilters, runFilters, search, foundRuns } = query;
  const conditions = [
    ...logConditions({ accountId, from, to, filters: callFilters, search: null, excludeRuns: false }, promoted),
    sql<SqlBool>`trace_id is not null`,
  ];
  const aboutRuns = [sql<SqlBool>`r.account_id = ${accountId}`, ...runFilters.map(runFilterCondition)];
  if (search !== null) aboutRuns.push(searchCondition(search, foundRuns));
  if (search !== null && foundRuns === null) {
    // Every run of these times is searched once, and not for each of its calls.
    if (from !== null) aboutRuns.push(sql<SqlBool>`r.ended_at >= ${from}`);
    if (to !== null) aboutRuns.push(sql<SqlBool>`r.started_at < ${to}`);
    conditions.push(sql<SqlBool>`trace_id in (select r.trace_id from llm_runs r where ${allOf(aboutRuns)} offset 0)`);
  } else if (aboutRuns.length > 1)
    conditions.push(
      sql<SqlBool>`exists (select 1 from llm_runs r where r.trace_id = calls_of_runs.trace_id and ${allOf(aboutRuns)})`,
    );
  return conditions;
}

/** The database ranks them, so that equal groups come in its order of text. */
async function rankGroups(client: pg.ClientBase, parts: readonly SqlRow[]): Promise<readonly RunGroup[]> {
  const columns = PART_COLUMNS.map(
    (column, index) => sql`${parts.map((row) => row[column])}::${sql.raw(`${PART_TYPES[index]}[]`)}`,
  );
  const rows = await runSql(
    client,
    sql`with parts as materialized (
      select * from unnest(${sql.join(columns)}) p (${sql.raw(PART_COLUMNS.join(', '))})
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
