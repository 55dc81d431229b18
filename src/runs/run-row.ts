/** A run as lists and its own page show it: the roll-up, and how many of its calls are open now. */
import { type CallSums, readCallSums } from './call-sums.ts';
import type { LogRecord } from './log-record.ts';
import type { SqlRow } from './run-sql.ts';

export interface RunRow extends Readonly<CallSums> {
  readonly trace_id: string;
  readonly open_calls: number;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly cut_at: Date | null;
}

export const RUN_STATES = ['running', 'errors', 'client_closed', 'ok'] as const;
export type RunState = (typeof RUN_STATES)[number];

/** For a query in which `r` is `llm_runs`. */
export const RUN_COLUMNS = `r.trace_id, r.calls,
    (select count(*) from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id) as open_calls,
    r.errors, r.client_closed_calls, r.unpriced_calls, r.total_cost, r.input_tokens, r.cache_read_input_tokens, r.cache_creation_input_tokens,
    r.output_tokens, r.reasoning_tokens, r.started_at, r.ended_at, r.cut_at`;

/** In the order of JSON and of tables. */
export const RUN_FIELDS = [
  'trace_id',
  'state',
  'calls',
  'open_calls',
  'errors',
  'client_closed_calls',
  'total_cost',
  'unpriced_calls',
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
  'started_at',
  'ended_at',
  'duration_ms',
  'cut_at',
] as const;
export type RunField = (typeof RUN_FIELDS)[number];

function readTime(value: unknown): Date {
  if (value instanceof Date) return value;
  throw new TypeError('a run has no time');
}

/** Of a row of `RUN_COLUMNS`. */
export function readRunRow(row: SqlRow): RunRow {
  return {
    ...readCallSums(row),
    trace_id: String(row['trace_id']),
    open_calls: Number(row['open_calls']),
    started_at: readTime(row['started_at']),
    ended_at: readTime(row['ended_at']),
    cut_at: row['cut_at'] instanceof Date ? row['cut_at'] : null,
  };
}

/** The same words as the SQL of `run-conditions.ts`. */
function stateOf(row: RunRow): RunState {
  if (row.open_calls > 0) return 'running';
  if (row.errors > 0) return 'errors';
  return row.calls > 0 && row.client_closed_calls === row.calls ? 'client_closed' : 'ok';
}

export function formatRunRow(row: RunRow): Readonly<Record<RunField, string | number | null>> & LogRecord {
  return {
    trace_id: row.trace_id,
    state: stateOf(row),
    calls: row.calls,
    open_calls: row.open_calls,
    errors: row.errors,
    client_closed_calls: row.client_closed_calls,
    total_cost: row.total_cost,
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
