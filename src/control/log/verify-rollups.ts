/**
 * Compares every roll-up with the aggregate over the records; one that is history must have none. Each part reads one
 * snapshot, or one for each day, so it may run beside the shipper.
 */
import pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { SUMMED_COLUMNS } from './call-sums.ts';
import { COST_HOURLY_COLUMNS, COST_KEY_COLUMNS, costHourlyAggregate } from './cost-hourly.ts';
import { MAX_KEYS_AN_HOUR, metadataHourlyAggregate } from './metadata-hourly.ts';
import type { RollupDifference } from './rollup-difference.ts';
import { RUN_COLUMNS, runAggregate } from './run-aggregate.ts';
import { verifyFacets } from './verify-facets.ts';

const MAX_DIFFERENCES = 1_000;

const CALLS = 'calls as (select 1 as sign, * from llm_requests)';

/** A key in a call must be in `metadata_keys` with the raw value; no call sent a promoted key may lack it. */
const WRONG_CALLS = `
  select r.account_id, r.trace_id, r.id, r.raw_metadata, r.indexed_metadata
  from llm_requests r
  where exists (
    select from jsonb_each_text(r.indexed_metadata) m
    where not exists (
      select from metadata_keys k
      where k.account_id = r.account_id and k.display_key = m.key
        and metadata_value(r.raw_metadata, k.key_lower) = m.value)
  ) or exists (
    select from metadata_keys k
    where k.account_id = r.account_id and k.state = 'promoted'
      and metadata_value(r.raw_metadata, k.key_lower) is not null and not r.indexed_metadata ? k.display_key
  )`;

/** An hour that was full counts only some keys. */
const WRONG_HOURS = `
  with calls as (select 1 as sign, * from llm_requests),
  records as (${metadataHourlyAggregate('calls')}),
  full_hours as (
    select account_id, hour from llm_metadata_hours group by account_id, hour
    having count(distinct key) >= ${MAX_KEYS_AN_HOUR}
  ), stored as (
    select account_id, hour, key, sum(calls)::int8 as calls from llm_metadata_hours group by account_id, hour, key
    having sum(calls) <> 0
  ), counted as (
    select 'records' as side, missing.* from (table records except table stored) missing
    union all
    select 'rollup', extra.* from (table stored except table records) extra
  )
  select * from counted c
  where not exists (select from full_hours f where f.account_id = c.account_id and f.hour = c.hour)`;

const COST_SUMS = `select ${COST_KEY_COLUMNS}, ${SUMMED_COLUMNS.map((column) =>
  column === 'total_cost' ? `sum(${column})` : `sum(${column})::int8`,
).join(', ')} from llm_cost_hours group by ${COST_KEY_COLUMNS}
  having (${SUMMED_COLUMNS.map((column) => `sum(${column})`).join(', ')}) <> (${SUMMED_COLUMNS.map(() => '0').join(', ')})`;

export interface VerifyPart {
  readonly rollup: RollupDifference['rollup'];
  /** Needs a transaction. Returns at most 1,000 differences. */
  readonly find: (client: pg.ClientBase) => Promise<readonly RollupDifference[]>;
}

function inSql(rollup: RollupDifference['rollup'], sql: string): VerifyPart {
  const find: VerifyPart['find'] = async (client) =>
    (await client.query<RollupDifference>(`${sql} limit ${MAX_DIFFERENCES}`)).rows;
  return { rollup, find };
}

export const VERIFY_PARTS: readonly VerifyPart[] = [
  inSql(
    'llm_runs',
    `with ${CALLS}, records (${RUN_COLUMNS}) as (${runAggregate('calls')}),
      ${differences(`select ${RUN_COLUMNS} from llm_runs where not is_history`)}
      select 'llm_runs' as rollup, side, account_id, trace_id, d::text as row from differences d`,
  ),
  inSql(
    'llm_cost_hourly',
    `with ${CALLS}, records (${COST_HOURLY_COLUMNS}) as (${costHourlyAggregate('calls')}),
      ${differences(COST_SUMS)}
      select 'llm_cost_hourly' as rollup, side, account_id, null as trace_id, d::text as row from differences d`,
  ),
  inSql(
    'indexed_metadata',
    `select 'indexed_metadata' as rollup, 'rollup' as side, account_id, trace_id, w::text as row
      from (${WRONG_CALLS}) w`,
  ),
  inSql(
    'llm_metadata_hourly',
    `select 'llm_metadata_hourly' as rollup, side, account_id, null as trace_id, h::text as row
      from (${WRONG_HOURS}) h`,
  ),
  { rollup: 'llm_facet_hourly', find: (client) => verifyFacets(client, MAX_DIFFERENCES) },
];

/** Empty when all is right. A client must not be in a transaction. */
export async function verifyRollups(source: pg.ClientBase | pg.Pool): Promise<readonly RollupDifference[]> {
  if (source instanceof pg.Pool) return inSnapshot(source, verifyAll);
  await source.query('begin isolation level repeatable read, read only');
  const found = await verifyAll(source);
  await source.query('commit');
  return found;
}

async function verifyAll(client: pg.ClientBase): Promise<readonly RollupDifference[]> {
  const found: RollupDifference[] = [];
  for (const { find } of VERIFY_PARTS) found.push(...(await find(client)));
  return found;
}

function differences(stored: string): string {
  return `differences as (
    select 'records' as side, missing.* from (table records except ${stored}) missing
    union all
    select 'rollup', extra.* from (${stored} except table records) extra)`;
}
