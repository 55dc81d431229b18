/** The calls of a run column by column: a third of the size of rows, for pages that draw thousands. Paged, or as they come. */
import type pg from 'pg';
import type { JsonValue } from '../token-usage.ts';
import type { LogPosition } from './list-logs.ts';
import type { TailPosition } from './tail-logs.ts';

/** Money without trailing zeros and times in milliseconds by the database, so that nothing is done for each value here. */
const COLUMNS = {
  id: 'id',
  requested_at_ms: '(extract(epoch from requested_at) * 1000)::int8',
  responded_at_ms: '(extract(epoch from responded_at) * 1000)::int8',
  duration_ms: 'duration_ms',
  span_key: 'span_key',
  span_name: 'span_name',
  provider: 'provider',
  model: 'coalesce(model, model_requested)',
  outcome: 'outcome',
  status: 'status',
  error_type: 'error_type',
  total_cost: 'trim_scale(total_cost)::text',
  known_cost: 'trim_scale(known_cost)::text',
  cost_status: 'cost_status',
  input_tokens: 'input_tokens',
  cache_read_input_tokens: 'cache_read_input_tokens',
  cache_creation_input_tokens: 'cache_creation_input_tokens',
  output_tokens: 'output_tokens',
  reasoning_tokens: 'reasoning_tokens',
  first_token_ms: 'first_token_ms',
  attempt: 'attempt',
  streamed: 'streamed',
  flags: 'flags',
  error_message: 'left(error_message, 200)',
} as const;

export type RunCallColumns = Readonly<Record<keyof typeof COLUMNS, readonly JsonValue[]>>;

const COLUMN_LIST = Object.entries(COLUMNS)
  .map(([name, expression]) => `${expression} as ${name}`)
  .join(', ');

const PAGE = `
  select ${COLUMN_LIST}, requested_at
  from llm_requests
  where account_id = $1 and trace_id = $2
    and ($3::timestamptz is null or ((requested_at, id) > ($3, $4::uuid) and requested_at >= $3))
  order by requested_at, id
  limit $5`;

const TAIL = `
  select ${COLUMN_LIST}, ingest_xid::text as xid
  from llm_requests
  where account_id = $1 and trace_id = $2
    and (ingest_xid, id) > ($3::xid8, $4::uuid) and ingest_xid < pg_snapshot_xmin(pg_current_snapshot())
  order by ingest_xid, id
  limit $5`;

type CallRow = Readonly<Record<keyof typeof COLUMNS, JsonValue>> & { readonly id: string };

function toColumns(rows: readonly CallRow[]): RunCallColumns {
  const column = (name: keyof typeof COLUMNS): readonly JsonValue[] => rows.map((row) => row[name]);
  return {
    id: column('id'),
    requested_at_ms: column('requested_at_ms'),
    responded_at_ms: column('responded_at_ms'),
    duration_ms: column('duration_ms'),
    span_key: column('span_key'),
    span_name: column('span_name'),
    provider: column('provider'),
    model: column('model'),
    outcome: column('outcome'),
    status: column('status'),
    error_type: column('error_type'),
    total_cost: column('total_cost'),
    known_cost: column('known_cost'),
    cost_status: column('cost_status'),
    input_tokens: column('input_tokens'),
    cache_read_input_tokens: column('cache_read_input_tokens'),
    cache_creation_input_tokens: column('cache_creation_input_tokens'),
    output_tokens: column('output_tokens'),
    reasoning_tokens: column('reasoning_tokens'),
    first_token_ms: column('first_token_ms'),
    attempt: column('attempt'),
    streamed: column('streamed'),
    flags: column('flags'),
    error_message: column('error_message'),
  };
}

export interface RunCallColumnPage {
  readonly columns: RunCallColumns;
  /** Null on the last page. */
  readonly next: LogPosition | null;
}

/** In time order. */
export async function listRunCallColumns(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<RunCallColumnPage> {
  const { rows } = await pool.query<CallRow & { requested_at: Date }>(PAGE, [
    accountId,
    traceId,
    after?.requestedAt ?? null,
    after?.id ?? null,
    limit + 1,
  ]);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    columns: toColumns(page),
    next: last === undefined ? null : { requestedAt: last.requested_at, id: last.id },
  };
}

export interface TailedRunCalls {
  readonly calls: number;
  readonly columns: RunCallColumns;
  /** Of the last of them; null when there is none. */
  readonly position: TailPosition | null;
}

/** In the order in which they became visible for good. */
export async function tailRunCalls(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: TailPosition,
  limit: number,
): Promise<TailedRunCalls> {
  const { rows } = await pool.query<CallRow & { xid: string }>(TAIL, [accountId, traceId, after.xid, after.id, limit]);
  const last = rows.at(-1);
  return {
    calls: rows.length,
    columns: toColumns(rows),
    position: last === undefined ? null : { xid: last.xid, id: last.id },
  };
}
