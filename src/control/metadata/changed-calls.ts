/** Updates the roll-ups by promoted key in a chunk's transaction, from exactly the calls that it changed. */
import type pg from 'pg';
import { addCostHourly, metadataFacet } from '../log/cost-hourly.ts';
import { AGGREGATED_COLUMNS } from '../log/run-aggregate.ts';

const AGGREGATED = AGGREGATED_COLUMNS.join(', ');

/**
 * Holds changed calls with the roll-ups' columns: `sign` is 1 for a key gained, -1 for one lost, and `indexed_metadata`
 * has only that key.
 */
const CHANGED_CALLS = 'metadata_changed_calls';

export const CREATE_CHANGED_CALLS = `
  create temp table if not exists ${CHANGED_CALLS} on commit delete rows as
    select 1 as sign, ${AGGREGATED} from llm_requests with no data`;

/** The `returning` list of an update of the calls `r`; `key` and `value` are SQL. */
export function changedColumns(key: string, value: string): string {
  return AGGREGATED_COLUMNS.map((column) =>
    column === 'indexed_metadata' ? `jsonb_build_object(${key}, ${value}) as indexed_metadata` : `r.${column}`,
  ).join(', ');
}

export function insertChanged(sign: 1 | -1, changed: string): string {
  return `insert into ${CHANGED_CALLS} (sign, ${AGGREGATED}) select ${sign}, ${AGGREGATED} from ${changed}`;
}

export async function changeRollups(client: pg.ClientBase, displayKey: string): Promise<void> {
  await addCostHourly(client, CHANGED_CALLS, metadataFacet(displayKey));
}
