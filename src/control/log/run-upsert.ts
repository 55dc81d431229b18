import { SUMMED_COLUMNS } from './call-sums.ts';
import { RUN_COLUMNS, runAggregate } from './run-aggregate.ts';

/** Adds what changed to `llm_runs`. `source` has the aggregate's columns and `sign`; rows are locked in key order. */
export function runUpsert(source: string): string {
  return `insert into llm_runs as r (${RUN_COLUMNS}) ${runAggregate(source)} order by account_id, trace_id
    on conflict (account_id, trace_id) do update set
      ${SUMMED_COLUMNS.map((column) => addUnlessHistory('r', column)).join(', ')},
      started_at = case when r.is_history then excluded.started_at else least(r.started_at, excluded.started_at) end,
      ended_at = case when r.is_history then excluded.ended_at else greatest(r.ended_at, excluded.ended_at) end,
      is_history = false`;
}

function addUnlessHistory(table: string, column: string): string {
  return `${column} = case when ${table}.is_history then 0 else ${table}.${column} end + excluded.${column}`;
}
