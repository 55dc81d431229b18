/** A run as lists and its own page show it: the roll-up, and how many of its calls are open now. */
import { formatDatabaseMoney, type LogRecord } from './log-record.ts';

export interface RunRow {
  readonly trace_id: string;
  readonly calls: number;
  readonly open_calls: number;
  readonly errors: number;
  readonly unpriced_calls: number;
  readonly total_cost: string;
  readonly input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly cut_at: Date | null;
}

/** For a query in which `r` is `llm_runs`. */
export const RUN_COLUMNS = `r.trace_id, r.calls,
    (select count(*) from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id) as open_calls,
    r.errors, r.unpriced_calls, r.total_cost, r.input_tokens, r.cache_read_input_tokens, r.cache_creation_input_tokens,
    r.output_tokens, r.reasoning_tokens, r.started_at, r.ended_at, r.cut_at`;

export function formatRunRow(row: RunRow): LogRecord {
  return {
    trace_id: row.trace_id,
    calls: row.calls,
    open_calls: row.open_calls,
    errors: row.errors,
    total_cost: formatDatabaseMoney(row.total_cost),
    unpriced_calls: row.unpriced_calls,
    input_tokens: row.input_tokens,
    cache_read_input_tokens: row.cache_read_input_tokens,
    cache_creation_input_tokens: row.cache_creation_input_tokens,
    output_tokens: row.output_tokens,
    reasoning_tokens: row.reasoning_tokens,
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at.toISOString(),
    duration_ms: row.ended_at.getTime() - row.started_at.getTime(),
    cut_at: row.cut_at?.toISOString() ?? null,
  };
}
