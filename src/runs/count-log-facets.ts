/** Which values occur among the newest calls that match, and how often. A count of a bounded sample, not of the log. */
import { sql } from 'kysely';
import type pg from 'pg';
import { type LogScope, logConditions } from './log-scope.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { allOf, runSql } from './run-sql.ts';

const MAX_SCANNED_CALLS = 20_000;
export const MAX_FACET_VALUES = 20;
/** Promoted keys in one answer, in the order of their names. */
const MAX_METADATA_FACETS = 50;

const FACET_COLUMNS = ['provider', 'model', 'outcome', 'status', 'endpoint', 'key_id', 'client'] as const;

export interface LogFacets {
  readonly data: readonly {
    readonly column: string;
    readonly values: readonly { readonly value: string; readonly calls: number }[];
    /** Of all other values, and of calls that have none: with the values they add up to the scanned calls. */
    readonly other_calls: number;
    readonly unset_calls: number;
  }[];
  readonly scanned_calls: number;
  readonly is_sampled: boolean;
}

export async function countLogFacets(pool: pg.Pool, scope: LogScope): Promise<LogFacets> {
  const promotedKeys = await readPromotedKeysFor(pool, scope.accountId, scope.filters);
  const columnPairs = sql.join(FACET_COLUMNS.map((name) => sql`(${sql.lit(name)}, ${sql.ref(name)}::text)`));
  const rows = await runSql(
    pool,
    sql`with newest as materialized (
      select ${sql.join(FACET_COLUMNS.map((name) => sql.ref(name)))}, indexed_metadata,
        row_number() over (order by requested_at desc, id desc) as place
      from llm_requests where ${allOf(logConditions(scope, promotedKeys))}
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
    is_sampled: matching > MAX_SCANNED_CALLS,
  };
}
