/** The values among the newest calls that match, with counts: a bounded sample of the log. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { findCalls } from './find-calls.ts';
import { isIndexed } from './log-filter-sql.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { allOf, type Condition, runSql } from './run-sql.ts';
import { askWithin, WALK_LIMITS, type WalkedWindow, type WalkLimits, walkWindow } from './walk-window.ts';

const MAX_SCANNED_CALLS = 5_000;
export const MAX_FACET_VALUES = 20;
const MAX_METADATA_FACETS = 50;

const FACET_COLUMNS = ['provider', 'model', 'outcome', 'status', 'endpoint', 'key_id', 'client'] as const;

export interface LogFacets {
  readonly data: readonly {
    readonly column: string;
    readonly values: readonly { readonly value: string; readonly calls: number }[];
    /** Calls with other values or without one; with the listed values they add up to the scanned calls. */
    readonly other_calls: number;
    readonly unset_calls: number;
  }[];
  readonly scanned_calls: number;
  readonly is_sampled: boolean;
}

/** Half of a page's time: what is found is read once more. */
const LIMITS: WalkLimits = { ...WALK_LIMITS, budgetMs: WALK_LIMITS.budgetMs / 2 };

export function countLogFacets(pool: pg.Pool, scope: LogScope): Promise<LogFacets> {
  return inSnapshot(pool, async (client) => {
    const promoted = await readPromotedKeysFor(client, scope.accountId, scope.filters);
    const { search } = scope;
    if (search !== null) {
      const { ids, first, last, hasMore } = await findCalls(client, { ...scope, search }, promoted, MAX_SCANNED_CALLS);
      const found = sql<SqlBool>`id = any(${ids}::uuid[]) and requested_at between ${first} and ${last}`;
      return countFacets(client, [found], hasMore);
    }
    const ask = () => countFacets(client, logConditions(scope, promoted), false);
    if (scope.filters.length === 0) return ask();
    const isQuick = scope.filters.some((filter) => isIndexed(filter, promoted));
    const answer = isQuick ? await askWithin(client, LIMITS.budgetMs, ask) : 'too_long';
    if (answer !== 'too_long') return answer;
    const { from, isWhole } = await findStart(client, scope, promoted);
    return countFacets(client, logConditions({ ...scope, from }, promoted), !isWhole);
  });
}

/** Since when there are enough calls that match, or as many as there is time to find. */
async function findStart(
  client: pg.ClientBase,
  scope: LogScope,
  promoted: PromotedKeys,
): Promise<{ readonly from: Date | null; readonly isWhole: boolean }> {
  let { from } = scope;
  let found = 0;
  const window: WalkedWindow = { ...scope, over: 'calls', direction: 'newest_first' };
  const end = await walkWindow(client, window, LIMITS, async (slice) => {
    const where = allOf(logConditions({ ...scope, from: slice.from, to: slice.to }, promoted));
    const [row] = await runSql(
      client,
      sql`select count(*) from (select from llm_requests where ${where} limit ${MAX_SCANNED_CALLS + 1 - found}) found`,
    );
    found += Number(row?.['count']);
    from = slice.from;
    return found > MAX_SCANNED_CALLS;
  });
  return end.type === 'time_spent' ? { from: end.searchedTo, isWhole: false } : { from, isWhole: true };
}

/** `hasMore`: there may be more calls than those of the conditions. */
async function countFacets(
  client: pg.ClientBase,
  conditions: readonly Condition[],
  hasMore: boolean,
): Promise<LogFacets> {
  const columnPairs = sql.join(FACET_COLUMNS.map((name) => sql`(${sql.lit(name)}, ${sql.ref(name)}::text)`));
  const rows = await runSql(
    client,
    sql`with newest as materialized (
      select ${sql.join(FACET_COLUMNS.map((name) => sql.ref(name)))}, indexed_metadata,
        row_number() over (order by requested_at desc, id desc) as place
      from llm_requests where ${allOf(conditions)}
      order by requested_at desc, id desc limit ${MAX_SCANNED_CALLS + 1}
    ), scanned as (
      select * from newest where place <= ${MAX_SCANNED_CALLS}
    ), counted as (
      select facet, left(value, ${MAX_VALUE_CHARACTERS}) as value, count(*) as calls
      from scanned, lateral (
        select * from (values ${columnPairs}) as columns (facet, value)
        union all
        select 'metadata.' || key, value from jsonb_each_text(indexed_metadata)
      ) as found
      where value is not null group by 1, 2
    ), ranked as (
      select *, row_number() over (partition by facet order by calls desc, value) as place,
        (sum(calls) over (partition by facet))::int8 as set_calls from counted
    )
    select facet, value, calls, set_calls from ranked where place <= ${MAX_FACET_VALUES}
    union all
    select null, null, count(*), null from newest
    order by facet nulls last, calls desc, value`,
  );
  const found = new Map<string, { value: string; calls: number }[]>();
  const setCalls = new Map<string, number>();
  let matching = 0;
  for (const row of rows) {
    const calls = Number(row['calls']);
    if (typeof row['facet'] !== 'string') {
      matching = calls;
      continue;
    }
    const values = found.get(row['facet']) ?? [];
    values.push({ value: String(row['value']), calls });
    found.set(row['facet'], values);
    setCalls.set(row['facet'], Number(row['set_calls']));
  }
  const scanned = Math.min(matching, MAX_SCANNED_CALLS);
  const promoted = [...found.keys()].filter((facet) => facet.startsWith('metadata.')).sort();
  return {
    data: [...FACET_COLUMNS, ...promoted.slice(0, MAX_METADATA_FACETS)].map((column) => {
      const values = found.get(column) ?? [];
      const set = setCalls.get(column) ?? 0;
      const listed = values.reduce((sum, { calls }) => sum + calls, 0);
      return { column, values, other_calls: set - listed, unset_calls: scanned - set };
    }),
    scanned_calls: scanned,
    is_sampled: hasMore || matching > MAX_SCANNED_CALLS,
  };
}
