/** Adds facets of runs to `llm_run_facets`: the one statement by which the shipper and the promotion of a key do it. */
import { FACET_COLUMNS } from './run-aggregate.ts';

/**
 * `rows`: a query with the columns of `facetAggregate`. A roll-up that is history has no record behind it: what is added
 * replaces what it shows. Rows are locked in the order of their keys, so that two writers do not block each other.
 */
export function facetUpsert(rows: string): string {
  return `insert into llm_run_facets as f (${FACET_COLUMNS}) ${rows}
    order by account_id, facet, value, trace_id
    on conflict (account_id, facet, value, trace_id) do update set ${addUnlessHistory('f', 'calls')},
      last_activity_at = case when f.is_history then excluded.last_activity_at
        else greatest(f.last_activity_at, excluded.last_activity_at) end,
      is_history = false`;
}

export function addUnlessHistory(table: string, column: string): string {
  return `${column} = case when ${table}.is_history then 0 else ${table}.${column} end + excluded.${column}`;
}
