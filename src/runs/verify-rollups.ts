/** Compares every roll-up with the aggregate over the records; one that is history must have none. Reads only; every row it finds is a defect. */
import type pg from 'pg';
import { COST_HOURLY_COLUMNS, costHourlyAggregate } from './cost-hourly.ts';
import { FACET_COLUMNS, facetAggregate, RUN_COLUMNS, runAggregate } from './run-aggregate.ts';
import { verifyMetadata } from './verify-metadata.ts';

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

const MAX_DIFFERENCES = 1_000;

/** Empty when all is right; at most 1,000 differences of each kind. It may run beside the shipper: each statement reads one snapshot. */
export async function verifyRollups(client: pg.ClientBase | pg.Pool): Promise<readonly RollupDifference[]> {
  const { rows } = await client.query<RollupDifference>(`
    with calls as (select 1 as sign, * from llm_requests),
    runs (${RUN_COLUMNS}) as (${runAggregate('calls')}),
    facets (${FACET_COLUMNS}) as (${facetAggregate('calls')}),
    costs (${COST_HOURLY_COLUMNS}) as (${costHourlyAggregate('calls')}),
    ${differences('run', 'runs', `select ${RUN_COLUMNS} from llm_runs where not is_history`)},
    ${differences('facet', 'facets', `select ${FACET_COLUMNS} from llm_run_facets where not is_history`)},
    ${differences('cost', 'costs', `select ${COST_HOURLY_COLUMNS} from llm_cost_hourly`)}
    select 'llm_runs' as rollup, side, account_id, trace_id, d::text as row from run_differences d
    union all
    select 'llm_run_facets', side, account_id, trace_id, d::text from facet_differences d
    union all
    select 'llm_cost_hourly', side, account_id, null, d::text from cost_differences d
    limit ${MAX_DIFFERENCES}`);
  return [...rows, ...(await verifyMetadata(client, MAX_DIFFERENCES))];
}

function differences(name: string, records: string, stored: string): string {
  return `${name}_differences as (
    select 'records' as side, missing.* from (table ${records} except ${stored}) missing
    union all
    select 'rollup', extra.* from (${stored} except table ${records}) extra)`;
}
