/**
 * What a run's roll-up is, written once: the aggregate over its calls. The shipper adds it up batch by batch, `verify`
 * over everything; that the two always agree is a promise. Sources have the columns of `llm_requests` and `sign`: 1 for
 * a call that counts, -1 for one that is taken back.
 */

/** Columns of `llm_runs` in the order of `runAggregate`. */
export const RUN_COLUMNS = `account_id, trace_id, calls, errors, client_closed_calls, unpriced_calls, total_cost, input_tokens,
  cache_read_input_tokens, cache_creation_input_tokens, output_tokens, reasoning_tokens, started_at, ended_at`;

/** Those of them that are sums over the calls. */
export const SUMMED_COLUMNS = [
  'calls',
  'errors',
  'client_closed_calls',
  'unpriced_calls',
  'total_cost',
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

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
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'requested_at',
  'responded_at',
] as const;

export function runAggregate(source: string): string {
  const sum = (column: string) => `coalesce(sum(sign * ${column}), 0)::int8`;
  return `select account_id, trace_id, sum(sign)::int8,
    coalesce(sum(sign) filter (where outcome not in ('ok', 'client_closed')), 0)::int8,
    coalesce(sum(sign) filter (where closed_before is not null), 0)::int8,
    coalesce(sum(sign) filter (where total_cost is null), 0)::int8,
    coalesce(sum(sign * coalesce(total_cost, known_cost)), 0)::numeric(36,12),
    ${sum('input_tokens')}, ${sum('cache_read_input_tokens')}, ${sum('cache_creation_input_tokens')},
    ${sum('output_tokens')}, ${sum('reasoning_tokens')},
    min(requested_at), max(coalesce(responded_at, requested_at))
  from ${source} where trace_id is not null group by account_id, trace_id`;
}

/** Columns of `llm_run_facets` in the order of `facetAggregate`. */
export const FACET_COLUMNS = 'account_id, facet, value, trace_id, calls, last_activity_at';

/** Longer values are cut, so that they fit into an index; in facets, groups and samples alike, so that they agree. */
export const MAX_VALUE_CHARACTERS = 200;

/** Promoted metadata is a facet under the spelling of its key: `metadata.Feature`. */
export function facetAggregate(source: string): string {
  return `select account_id, facet, value, trace_id, sum(sign)::int8 as calls, max(coalesce(responded_at, requested_at))
  from ${source}, lateral (
    values ('model', left(coalesce(model, model_requested), ${MAX_VALUE_CHARACTERS})), ('provider', provider), ('key', key_id::text)
    union all
    select 'metadata.' || m.key, left(m.value, ${MAX_VALUE_CHARACTERS}) from jsonb_each_text(indexed_metadata) m
  ) as facets (facet, value)
  where trace_id is not null and value is not null group by account_id, facet, value, trace_id`;
}
