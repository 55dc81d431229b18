/**
 * The roll-up of costs by hour as an aggregate over calls, for the shipper and for `verify`. A source has
 * `AGGREGATED_COLUMNS` and `sign`: 1 for a call that counts, -1 for one that is taken back. Writers only insert what
 * changes, so that none waits for another; `fold-rollups.ts` adds it up.
 */
import type pg from 'pg';
import { SIGNED_SUMS, SUMMED_COLUMNS } from './call-sums.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';

export const COST_KEY_COLUMNS = 'account_id, facet, hour, value, provider, model, key_id';

export const COST_HOURLY_COLUMNS = `${COST_KEY_COLUMNS}, ${SUMMED_COLUMNS.join(', ')}`;

/** The facet that contains every call once. */
export const ALL_CALLS_FACET = '';

/** Longer keys have no rows, since key and value would not fit into the index. */
export const MAX_FACET_KEY_CHARACTERS = 200;

export function metadataFacet(displayKey: string): string {
  return `metadata.${displayKey}`;
}

const MODEL = `left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS})`;

const METADATA_FACETS = `
    select 'metadata.' || m.key, left(m.value, ${MAX_VALUE_CHARACTERS}) from jsonb_each_text(indexed_metadata) m
    where m.value is not null and length(m.key) <= ${MAX_FACET_KEY_CHARACTERS}`;

/** `onlyFacet` is an SQL expression; it leaves out the rows of all other facets. */
export function costHourlyAggregate(source: string, onlyFacet: string | null = null): string {
  return `select account_id, facet, date_trunc('hour', requested_at, 'UTC'), value, provider, ${MODEL}, key_id,
    ${SIGNED_SUMS}
  from ${source}, lateral (
    select '${ALL_CALLS_FACET}', '' union all ${METADATA_FACETS}
  ) as facets (facet, value)
  ${onlyFacet === null ? '' : `where facet = ${onlyFacet}`}
  group by 1, 2, 3, 4, 5, 6, 7`;
}

export function insertCostDeltas(source: string, onlyFacet: string | null = null): string {
  return `insert into llm_cost_deltas (${COST_HOURLY_COLUMNS}) ${costHourlyAggregate(source, onlyFacet)}`;
}

/**
 * Adds calls that got the key (`sign` 1) or are about to lose it (-1, the key still in `indexed_metadata`) to the rows
 * of its facet. Call it in the transaction that changes `indexed_metadata`.
 */
export async function addCostHourly(client: pg.ClientBase, changedTable: string, facet: string): Promise<void> {
  await client.query(insertCostDeltas(changedTable, '$1'), [facet]);
}
