/** Adds what changed to `llm_runs`: the one statement by which the shipper and re-pricing do it. */
import { addUnlessHistory } from './facet-upsert.ts';
import { RUN_COLUMNS, runAggregate, SUMMED_COLUMNS } from './run-aggregate.ts';

/**
 * `source` has the columns of `llm_requests` that the aggregate reads, and `sign`. A roll-up that is history has no record
 * behind it: what is added replaces what it shows. Rows are locked in the order of their keys.
 */
export function runUpsert(source: string): string {
  return `insert into llm_runs as r (${RUN_COLUMNS}) ${runAggregate(source)} order by account_id, trace_id
    on conflict (account_id, trace_id) do update set
      ${SUMMED_COLUMNS.map((column) => addUnlessHistory('r', column)).join(', ')},
      started_at = case when r.is_history then excluded.started_at else least(r.started_at, excluded.started_at) end,
      ended_at = case when r.is_history then excluded.ended_at else greatest(r.ended_at, excluded.ended_at) end,
      is_history = false`;
}
