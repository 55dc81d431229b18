/**
 * Compares every roll-up with the aggregate over the records; one that is history must have none. Reads only; every row
 * it finds is a defect. It may run beside the shipper: each part is one statement, which reads one snapshot.
 */
import type pg from 'pg';
import { COST_HOURLY_COLUMNS, costHourlyAggregate } from './cost-hourly.ts';
import { FACET_COLUMNS, facetAggregate, RUN_COLUMNS, runAggregate } from './run-aggregate.ts';
import { WRONG_CALLS, WRONG_HOURS } from './verify-metadata.ts';

export interface RollupDifference {
  readonly rollup: 'llm_runs' | 'llm_run_facets' | 'llm_cost_hourly' | 'llm_metadata_hourly' | 'indexed_metadata';
  /** `records`: what it should be; `rollup`: what is stored. */
  readonly side: 'records' | 'rollup';
  readonly account_id: number;
  /** Null where the row is not one of a run. */
  readonly trace_id: string | null;
  /** The whole row, as text. */
  readonly row: string;
}

/** Of each roll-up. */
const MAX_DIFFERENCES = 1_000;

const CALLS = 'calls as (select 1 as sign, * from llm_requests)';

/** One statement for each roll-up, which answers with its differences. */
export const VERIFY_PARTS: readonly { readonly rollup: RollupDifference['rollup']; readonly sql: string }[] = [
  {
    rollup: 'llm_runs',
    sql: `with ${CALLS}, records (${RUN_COLUMNS}) as (${runAggregate('calls')}),
      ${differences(`select ${RUN_COLUMNS} from llm_runs where not is_history`)}
      select 'llm_runs' as rollup, side, account_id, trace_id, d::text as row from differences d`,
  },
  {
    rollup: 'llm_run_facets',
    sql: `with ${CALLS}, records (${FACET_COLUMNS}) as (${facetAggregate('calls')}),
      ${differences(`select ${FACET_COLUMNS} from llm_run_facets where not is_history`)}
      select 'llm_run_facets' as rollup, side, account_id, trace_id, d::text as row from differences d`,
  },
  {
    rollup: 'llm_cost_hourly',
    sql: `with ${CALLS}, records (${COST_HOURLY_COLUMNS}) as (${costHourlyAggregate('calls')}),
      ${differences(`select ${COST_HOURLY_COLUMNS} from llm_cost_hourly`)}
      select 'llm_cost_hourly' as rollup, side, account_id, null as trace_id, d::text as row from differences d`,
  },
  {
    rollup: 'indexed_metadata',
    sql: `select 'indexed_metadata' as rollup, 'rollup' as side, account_id, trace_id, w::text as row
      from (${WRONG_CALLS}) w`,
  },
  {
    rollup: 'llm_metadata_hourly',
    sql: `select 'llm_metadata_hourly' as rollup, side, account_id, null as trace_id, h::text as row
      from (${WRONG_HOURS}) h`,
  },
];

export async function verifyPart(client: pg.ClientBase | pg.Pool, sql: string): Promise<readonly RollupDifference[]> {
  const { rows } = await client.query<RollupDifference>(`${sql} limit ${MAX_DIFFERENCES}`);
  return rows;
}

/** Empty when all is right. */
export async function verifyRollups(client: pg.ClientBase | pg.Pool): Promise<readonly RollupDifference[]> {
  const found: RollupDifference[] = [];
  for (const { sql } of VERIFY_PARTS) found.push(...(await verifyPart(client, sql)));
  return found;
}

function differences(stored: string): string {
  return `differences as (
    select 'records' as side, missing.* from (table records except ${stored}) missing
    union all
    select 'rollup', extra.* from (${stored} except table records) extra)`;
}
