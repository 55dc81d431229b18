/**
 * The roll-up of a run as an aggregate over its calls, for the shipper and for `verify`, which must agree. A source has
 * the columns of `llm_requests` and `sign`: 1 for a call that counts, -1 for one that is taken back.
 */
import { SIGNED_SUMS, SUMMED_COLUMNS, TOKEN_COLUMNS } from './call-sums.ts';

export const RUN_COLUMNS = `account_id, trace_id, ${SUMMED_COLUMNS.join(', ')}, started_at, ended_at`;

/** Columns of `llm_requests` that the aggregates read. */
export const AGGREGATED_COLUMNS = [
  'account_id',
  'trace_id',
  'key_id',
  'provider',
  'model',
  'model_requested',
  'indexed_metadata',
  'outcome',
  'closed_before',
  'total_cost',
  'known_cost',
  ...TOKEN_COLUMNS,
  'requested_at',
  'responded_at',
] as const;

export function runAggregate(source: string): string {
  return `select account_id, trace_id, ${SIGNED_SUMS}, min(requested_at), max(coalesce(responded_at, requested_at))
  from ${source} where trace_id is not null group by account_id, trace_id`;
}

export const FACET_COLUMNS = 'account_id, facet, value, trace_id, calls, last_activity_at';

/** Longer values are cut to fit an index, alike in facets, groups and samples. */
export const MAX_VALUE_CHARACTERS = 200;

/** The facet of promoted metadata has the spelling of its key: `metadata.Feature`. */
export function facetAggregate(source: string): string {
  return `select account_id, facet, value, trace_id, sum(sign)::int8 as calls, max(coalesce(responded_at, requested_at))
  from ${source}, lateral (
    values ('model', left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS})), ('provider', provider), ('key', key_id::text)
    union all
    select 'metadata.' || m.key, left(m.value, ${MAX_VALUE_CHARACTERS}) from jsonb_each_text(indexed_metadata) m
  ) as facets (facet, value)
  where trace_id is not null and value is not null group by account_id, facet, value, trace_id`;
}
