/**
 * Folds what batches and jobs inserted beside the hourly roll-ups into their rows. Readers sum both together, so an
 * answer is the same before and after. One node folds at a time.
 */
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import { IS_NOTHING, SUMMED_COLUMNS } from './call-sums.ts';
import { COST_HOURLY_COLUMNS, COST_KEY_COLUMNS } from './cost-hourly.ts';
import { foldFacets, MAX_FOLDED_FACETS } from './fold-facets.ts';
import { MAX_KEYS_AN_HOUR, METADATA_HOURLY_COLUMNS } from './metadata-hourly.ts';

/** The number is arbitrary and stays the same in every version. */
export const FOLD_LOCK = 7_461_019;
/** Bounds the transaction: about 0.2 s. */
const MAX_ROWS = 20_000;

/** What is folded meanwhile moves to the hours, so who deletes begins with the deltas. */
export const HOURLY_TABLES = [
  'llm_cost_deltas',
  'llm_metadata_deltas',
  'llm_facet_deltas',
  'llm_cost_hourly',
  'llm_metadata_hourly',
  'llm_facet_hourly',
] as const;

const SUMS = SUMMED_COLUMNS.map((column) => `sum(${column}) as ${column}`).join(', ');

/** Retention may delete the same rows first; what it deleted is not returned. */
function takeDeltas(table: string, columns: string): string {
  return `taken as (
    delete from ${table} where ctid = any(array(select ctid from ${table} limit ${MAX_ROWS})) returning ${columns}
  )`;
}

/** Returns the hours that have a group of nothing now. */
const FOLD_COSTS = `
  with ${takeDeltas('llm_cost_deltas', COST_HOURLY_COLUMNS)}, changed as (
    select ${COST_KEY_COLUMNS}, ${SUMS} from taken group by ${COST_KEY_COLUMNS}
  ), folded as (
    insert into llm_cost_hourly as c (${COST_HOURLY_COLUMNS}) select ${COST_HOURLY_COLUMNS} from changed
    on conflict (${COST_KEY_COLUMNS}) do update set
      ${SUMMED_COLUMNS.map((column) => `${column} = c.${column} + excluded.${column}`).join(', ')}
    returning hour, ${IS_NOTHING} as is_nothing
  )
  select (select count(*) from taken)::int4 as rows,
    array(select distinct hour from folded where is_nothing) as emptied`;

/** A new key of an hour is let in while there is room. */
const FOLD_METADATA = `
  with ${takeDeltas('llm_metadata_deltas', METADATA_HOURLY_COLUMNS)}, changed as (
    select account_id, hour, key, sum(calls)::int8 as calls from taken group by account_id, hour, key
  ), held as (
    select account_id, hour, count(*) as keys
    from (select distinct account_id, hour from changed) c join llm_metadata_hourly using (account_id, hour)
    group by account_id, hour
  ), placed as (
    select c.*, h.key is not null as is_known,
      row_number() over (partition by account_id, hour, h.key is not null order by c.key) as place
    from changed c left join llm_metadata_hourly h using (account_id, hour, key)
  ), folded as (
    insert into llm_metadata_hourly as m (${METADATA_HOURLY_COLUMNS})
    select ${METADATA_HOURLY_COLUMNS} from placed left join held using (account_id, hour)
    where is_known or place <= ${MAX_KEYS_AN_HOUR} - coalesce(keys, 0)
    on conflict (account_id, hour, key) do update set calls = m.calls + excluded.calls
    returning hour, calls
  )
  select (select count(*) from taken)::int4 as rows,
    array(select distinct hour from folded where calls = 0) as emptied`;

interface Folded {
  readonly rows: number;
  readonly emptied: readonly Date[];
}

/** Returns whether there may be more to fold; null when another node folds. */
export function foldRollups(pool: pg.Pool): Promise<boolean | null> {
  return inTransaction(pool, async (client) => {
    const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_xact_lock($1) as "isOurs"', [
      FOLD_LOCK,
    ]);
    if (rows[0]?.isOurs !== true) return null;
    const costs = await fold(client, FOLD_COSTS, 'llm_cost_hourly', IS_NOTHING);
    const keys = await fold(client, FOLD_METADATA, 'llm_metadata_hourly', 'calls = 0');
    const facets = await foldFacets(client);
    return costs === MAX_ROWS || keys === MAX_ROWS || facets === MAX_FOLDED_FACETS;
  });
}

async function fold(client: pg.ClientBase, statement: string, table: string, isNothing: string): Promise<number> {
  const { rows } = await client.query<Folded>(statement);
  const { rows: taken, emptied } = rows[0] ?? { rows: 0, emptied: [] };
  if (emptied.length > 0)
    await client.query(`delete from ${table} where ${isNothing} and hour = any($1::timestamptz[])`, [emptied]);
  return taken;
}
