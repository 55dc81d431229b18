/**
 * What the roll-up of costs by hour is, written once: the aggregate over the calls. The shipper adds it up batch by
 * batch, `verify` over everything. Sources have the columns of `llm_requests` that `AGGREGATED_COLUMNS` names, and
 * `sign`: 1 for a call that counts, -1 for one that is taken back.
 */
import type pg from 'pg';
import { MAX_VALUE_CHARACTERS, SUMMED_COLUMNS } from './run-aggregate.ts';

const KEY_COLUMNS = 'account_id, facet, hour, value, provider, model, key_id';

/** Columns of `llm_cost_hourly` in the order of `costHourlyAggregate`. */
export const COST_HOURLY_COLUMNS = `${KEY_COLUMNS}, ${SUMMED_COLUMNS.join(', ')}`;

/** The facet that has every call once. */
export const ALL_CALLS_FACET = '';

/** Of a longer key there are no rows: with its value it would not fit into the index. */
export const MAX_FACET_KEY_CHARACTERS = 200;

export function metadataFacet(displayKey: string): string {
  return `metadata.${displayKey}`;
}

const MODEL = `left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS})`;

const METADATA_FACETS = `
    select 'metadata.' || m.key, left(m.value, ${MAX_VALUE_CHARACTERS}) from jsonb_each_text(indexed_metadata) m
    where m.value is not null and length(m.key) <= ${MAX_FACET_KEY_CHARACTERS}`;

/** What the sums of `SUMMED_COLUMNS` are over records with `sign`. */
export const COST_SUMS = `sum(sign)::int8,
    coalesce(sum(sign) filter (where outcome not in ('ok', 'client_closed')), 0)::int8,
    coalesce(sum(sign) filter (where closed_before is not null), 0)::int8,
    coalesce(sum(sign) filter (where total_cost is null), 0)::int8,
    coalesce(sum(sign * coalesce(total_cost, known_cost)), 0)::numeric(36,12),
    ${SUMMED_COLUMNS.filter((column) => column.endsWith('_tokens'))
      .map((column) => `coalesce(sum(sign * ${column}), 0)::int8`)
      .join(', ')}`;

/** `onlyFacet`: an SQL expression, to leave out the rows of all other facets. */
export function costHourlyAggregate(source: string, onlyFacet: string | null = null): string {
  return `select account_id, facet, date_trunc('hour', requested_at, 'UTC'), value, provider, ${MODEL}, key_id,
    ${COST_SUMS}
  from ${source}, lateral (
    select '${ALL_CALLS_FACET}', '' union all ${METADATA_FACETS}
  ) as facets (facet, value)
  ${onlyFacet === null ? '' : `where facet = ${onlyFacet}`}
  group by 1, 2, 3, 4, 5, 6, 7`;
}

/** In the order of its keys, so that two writers cannot block each other. */
export function insertCostHourly(source: string, onlyFacet: string | null = null): string {
  return `
    insert into llm_cost_hourly as c (${COST_HOURLY_COLUMNS}) ${costHourlyAggregate(source, onlyFacet)}
    order by 1, 2, 3, 4, 5, 6, 7
    on conflict (${KEY_COLUMNS}) do update set
      ${SUMMED_COLUMNS.map((column) => `${column} = c.${column} + excluded.${column}`).join(', ')}`;
}

/** After calls were taken back: rows without calls. `source` names the accounts and times where that may be. */
export function deleteEmptyCostHours(source: string): string {
  return `
    delete from llm_cost_hourly where calls = 0
      and (account_id, hour) in (select account_id, date_trunc('hour', requested_at, 'UTC') from ${source})`;
}

/**
 * Adds what changed to the rows of one facet, `metadata.<Key>`, and to no other: for calls that got the key (`sign` 1)
 * or are about to lose it (-1, with the key still in `indexed_metadata`). `changedTable` has `AGGREGATED_COLUMNS` and
 * `sign`. Call it in the transaction that changes `indexed_metadata`.
 */
export async function addCostHourly(client: pg.ClientBase, changedTable: string, facet: string): Promise<void> {
  await client.query(insertCostHourly(changedTable, '$1'), [facet]);
  await client.query(deleteEmptyCostHours(changedTable));
}
