/**
 * Folds `llm_facet_deltas` into `llm_facet_hourly`, and finds facets that have too many values for a roll-up. Runs in
 * the transaction of the node that folds.
 */
import type pg from 'pg';
import {
  ALL_METADATA,
  DISTRIBUTION_NAMES,
  FACET_COLUMNS,
  FACET_KEY_COLUMNS,
  isNotWide,
  METADATA_FACET,
} from './call-facets.ts';
import { IS_NOTHING, SUMMED_COLUMNS } from './call-sums.ts';
import { addPackedToTally, packTally, type Tally } from './distribution.ts';

/** Bounds the transaction: about 0.3 s. */
export const MAX_FOLDED_FACETS = 5_000;
/** With more values in one hour a column or key is not rolled up any longer. */
export const MAX_VALUES_AN_HOUR = 200;
/** Nor with more than these, if fewer than four calls share one: a roll-up would be as long as the log. */
export const FEW_VALUES_AN_HOUR = 50;
export const LEAST_CALLS_A_VALUE = 4;
/** With more metadata keys than these, none is rolled up any longer. */
export const MAX_ROLLED_UP_KEYS = 200;

const TAKE = `
  with taken as (
    delete from llm_facet_deltas
    where ctid = any(array(select ctid from llm_facet_deltas limit ${MAX_FOLDED_FACETS}))
    returning ${FACET_COLUMNS}
  )
  select ${FACET_KEY_COLUMNS}, ${SUMMED_COLUMNS.map((column) => `sum(${column})::text as ${column}`).join(', ')},
    ${DISTRIBUTION_NAMES.map((name) => `array_agg(${name}) as ${name}`).join(', ')},
    (select count(*) from taken)::int4 as taken
  from taken f
  where ${isNotWide('f.facet')} and (not starts_with(f.facet, '${METADATA_FACET}') or ${isNotWide(`'${ALL_METADATA}'`)})
  group by ${FACET_KEY_COLUMNS}`;

interface TakenRow {
  readonly account_id: number;
  readonly facet: string;
  readonly hour: Date;
  readonly value: string;
  readonly in_run: boolean;
  readonly durations: readonly Buffer[];
  readonly first_tokens: readonly Buffer[];
  readonly speeds: readonly Buffer[];
  readonly taken: number;
  readonly [sum: string]: unknown;
}

const KEYS = `unnest($1::int4[], $2::text[], $3::timestamptz[], $4::text[], $5::bool[])`;

const READ = `
  select k.place::int4 as place, ${DISTRIBUTION_NAMES.map((name) => `f.${name}`).join(', ')}
  from ${KEYS} with ordinality k (${FACET_KEY_COLUMNS}, place) join llm_facet_hourly f using (${FACET_KEY_COLUMNS})`;

interface PackedRow {
  readonly place: number;
  readonly durations: Buffer;
  readonly first_tokens: Buffer;
  readonly speeds: Buffer;
}

const IS_EMPTY = [IS_NOTHING, ...DISTRIBUTION_NAMES.map((name) => `f.${name} = ''`)].join(' and ');

const WRITTEN = [...SUMMED_COLUMNS, ...DISTRIBUTION_NAMES];
const CASTS = [
  ...SUMMED_COLUMNS.map((column) => (column === 'total_cost' ? 'numeric[]' : 'int8[]')),
  ...DISTRIBUTION_NAMES.map(() => 'bytea[]'),
];

/** Returns the hours and facets that have a value which they had not, or an empty one. */
const WRITE = `
  with folded as (
    insert into llm_facet_hourly as f (${FACET_KEY_COLUMNS}, ${WRITTEN.join(', ')})
    select * from unnest($1::int4[], $2::text[], $3::timestamptz[], $4::text[], $5::bool[],
      ${CASTS.map((cast, index) => `$${index + 6}::${cast}`).join(', ')})
    on conflict (${FACET_KEY_COLUMNS}) do update set
      ${SUMMED_COLUMNS.map((column) => `${column} = f.${column} + excluded.${column}`).join(', ')},
      ${DISTRIBUTION_NAMES.map((name) => `${name} = excluded.${name}`).join(', ')}
    returning account_id, facet, hour, ${IS_EMPTY} as is_empty, xmax = 0 as is_new
  )
  select account_id, facet, hour, bool_or(is_new) as is_new, bool_or(is_empty) as is_emptied
  from folded group by 1, 2, 3 having bool_or(is_new) or bool_or(is_empty)`;

interface Changed {
  readonly account_id: number;
  readonly facet: string;
  readonly hour: Date;
  readonly is_new: boolean;
  readonly is_emptied: boolean;
}

/** Returns the number of deltas taken, at most `MAX_FOLDED_FACETS`. */
export async function foldFacets(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<TakenRow>(TAKE);
  if (rows.length === 0) return 0;
  const keys = [
    rows.map((row) => row.account_id),
    rows.map((row) => row.facet),
    rows.map((row) => row.hour),
    rows.map((row) => row.value),
    rows.map((row) => row.in_run),
  ];
  const { rows: found } = await client.query<PackedRow>(READ, keys);
  const packed = new Map(found.map((row) => [row.place - 1, row]));
  const distributions = DISTRIBUTION_NAMES.map((name) =>
    rows.map((row, index) => {
      const before = packed.get(index)?.[name];
      const added = row[name].filter((bytes) => bytes.length > 0);
      if (added.length === 0) return before ?? Buffer.alloc(0);
      if (before === undefined && added.length === 1) return added[0];
      const sum: Tally = new Map();
      for (const bytes of before === undefined ? added : [before, ...added]) addPackedToTally(sum, bytes);
      return packTally(sum);
    }),
  );
  const sums = SUMMED_COLUMNS.map((column) => rows.map((row) => row[column]));
  const { rows: changed } = await client.query<Changed>(WRITE, [...keys, ...sums, ...distributions]);
  const emptied = changed.filter((row) => row.is_emptied);
  if (emptied.length > 0)
    await client.query(
      `delete from llm_facet_hourly f using unnest($1::int4[], $2::text[], $3::timestamptz[]) e (account_id, facet, hour)
       where f.account_id = e.account_id and f.facet = e.facet and f.hour = e.hour and ${IS_EMPTY}`,
      columnsOf(emptied),
    );
  const grown = changed.filter((row) => row.is_new);
  if (grown.length > 0) await markWide(client, grown);
  return rows[0]?.taken ?? 0;
}

function columnsOf(rows: readonly Changed[]): unknown[] {
  return [rows.map((row) => row.account_id), rows.map((row) => row.facet), rows.map((row) => row.hour)];
}

/** Calls to a value are judged when their hour is over: at its beginning every value is new. */
const WIDE = `
  select distinct e.account_id, e.facet
  from unnest($1::int4[], $2::text[], $3::timestamptz[]) e (account_id, facet, hour),
    unnest(array[e.hour, e.hour - interval '1 hour']) looked (hour),
    lateral (
      select count(distinct f.value) as distinct_values, sum(f.calls) as calls from llm_facet_hourly f
      where f.account_id = e.account_id and f.facet = e.facet and f.hour = looked.hour
    ) found
  where distinct_values > ${MAX_VALUES_AN_HOUR}
    or (distinct_values > ${FEW_VALUES_AN_HOUR} and calls < ${LEAST_CALLS_A_VALUE} * distinct_values
      and looked.hour < date_trunc('hour', now(), 'UTC'))`;

/** Steps from key to key in the index, whatever the number of hours. */
const MANY_KEYS = `
  with recursive k (facet) as (
    (select facet from llm_facet_hourly where account_id = $1 and facet > '${METADATA_FACET}' order by facet limit 1)
    union all
    select (select f.facet from llm_facet_hourly f where f.account_id = $1 and f.facet > k.facet order by f.facet limit 1)
    from k where starts_with(k.facet, '${METADATA_FACET}')
  )
  select count(*) > ${MAX_ROLLED_UP_KEYS} as "isMany" from (
    select from k where starts_with(facet, '${METADATA_FACET}') limit ${MAX_ROLLED_UP_KEYS + 1}) counted`;

async function markWide(client: pg.ClientBase, grown: readonly Changed[]): Promise<void> {
  const { rows: wide } = await client.query<{ account_id: number; facet: string }>(WIDE, columnsOf(grown));
  for (const { account_id: accountId, facet } of wide) await forgetFacets(client, accountId, facet, 'facet = $2');
  const accounts = new Set(grown.filter(({ facet }) => facet.startsWith(METADATA_FACET)).map((row) => row.account_id));
  for (const accountId of accounts) {
    const { rows } = await client.query<{ isMany: boolean }>(MANY_KEYS, [accountId]);
    if (rows[0]?.isMany === true) await forgetFacets(client, accountId, ALL_METADATA, 'starts_with(facet, $2)');
  }
}

async function forgetFacets(client: pg.ClientBase, accountId: number, facet: string, which: string): Promise<void> {
  await client.query('insert into llm_wide_facets (account_id, facet) values ($1, $2) on conflict do nothing', [
    accountId,
    facet,
  ]);
  await client.query(`delete from llm_facet_hourly where account_id = $1 and ${which}`, [accountId, facet]);
}
