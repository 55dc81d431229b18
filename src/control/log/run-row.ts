/** A run as lists and its own page show it: the roll-up and the number of open calls. */
import type { ColumnKind } from '../store/log-columns.ts';
import { type CallSums, readCallSums, SUMMED_COLUMNS } from './call-sums.ts';
import type { SqlRow } from './run-sql.ts';

export interface RunRow extends CallSums {
  readonly trace_id: string;
  readonly open_calls: number;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly cut_at: Date | null;
}

export const RUN_STATES = ['running', 'errors', 'client_closed', 'ok'] as const;
export type RunState = (typeof RUN_STATES)[number];

export const RUN_COLUMNS = `r.trace_id, ${SUMMED_COLUMNS.map((name) => `r.${name}`).join(', ')},
    (select count(*) from llm_open_calls o where o.account_id = r.account_id and o.trace_id = r.trace_id) as open_calls,
    r.started_at, r.ended_at, r.cut_at`;

/** The fields of a run in the order of JSON and tables. */
export const RUN_FIELDS = {
  trace_id: 'text',
  state: 'text',
  calls: 'integer',
  open_calls: 'integer',
  errors: 'integer',
  client_closed_calls: 'integer',
  total_cost: 'money',
  unpriced_calls: 'integer',
  input_tokens: 'integer',
  cache_read_input_tokens: 'integer',
  cache_creation_input_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
  started_at: 'time',
  ended_at: 'time',
  duration_ms: 'integer',
  cut_at: 'time',
} as const satisfies Readonly<Record<string, ColumnKind>>;
export type RunField = keyof typeof RUN_FIELDS;

export function isRunField(name: string): name is RunField {
  return Object.hasOwn(RUN_FIELDS, name);
}

function readTime(value: unknown): Date {
  if (value instanceof Date) return value;
  throw new TypeError('a run has no time');
}

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

/** `run-conditions.ts` has the SQL of this. */
function stateOf(row: RunRow): RunState {
  if (row.open_calls > 0) return 'running';
  if (row.errors > 0) return 'errors';
  return row.calls > 0 && row.client_closed_calls === row.calls ? 'client_closed' : 'ok';
}

export function formatRunRow(row: RunRow) {
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
