/** The calls of a run column by column, a third of the size of rows, paged or as they arrive. */
import type pg from 'pg';
import { namesOf, recordOf } from '../../vocabulary/record-of.ts';
import type { JsonValue } from '../../vocabulary/token-usage.ts';
import { bindRunPage, runPage } from './list-run-calls.ts';
import type { LogPosition } from './log-order.ts';
import type { TailPosition } from './tail-logs.ts';

/** The database formats money and times, which saves work for each value here. */
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

const NAMES = namesOf(COLUMNS);
const COLUMN_LIST = NAMES.map((name) => `${COLUMNS[name]} as ${name}`).join(', ');

const TAIL = `
  select ${COLUMN_LIST}, ingest_xid::text as xid
  from llm_requests
  where account_id = $1 and trace_id = $2
    and (ingest_xid, id) > ($3::xid8, $4::uuid) and ingest_xid < pg_snapshot_xmin(pg_current_snapshot())
  order by ingest_xid, id
  limit $5`;

type CallRow = Readonly<Record<keyof typeof COLUMNS, JsonValue>> & { readonly id: string };

function toColumns(rows: readonly CallRow[]): RunCallColumns {
  return recordOf(NAMES, (name) => rows.map((row) => row[name]));
}

/**
 * The database also writes the JSON: as rows, tens of thousands of calls would be a million values to read and to write
 * again here.
 */
const PAGE = `
  with found as materialized (${runPage(`${COLUMN_LIST}, requested_at`)}
  ), page as materialized (
    select * from found order by requested_at, id limit $5
  ), last as (
    select id, requested_at from page order by requested_at desc, id desc limit 1
  )
  select ${NAMES.map((name) => `coalesce(json_agg(${name}), '[]')::text as ${name}`).join(', ')},
    (select id from last where (select count(*) from found) > $5) as next_id, (select requested_at from last) as last_at
  from page`;

type PageRow = Readonly<Record<keyof typeof COLUMNS, string>> & {
  readonly next_id: string | null;
  readonly last_at: Date | null;
};

export interface RunCallColumnPage {
  /** `RunCallColumns` as JSON. */
  readonly columns: string;
  readonly ids: () => readonly JsonValue[];
  readonly next: LogPosition | null;
}

export async function listRunCallColumns(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<RunCallColumnPage> {
  const { rows } = await pool.query<PageRow>(PAGE, bindRunPage(accountId, traceId, after, limit));
  const [row] = rows;
  if (row === undefined) throw new Error('an aggregate has a row');
  const { next_id: id, last_at: requestedAt } = row;
  return {
    columns: `{${NAMES.map((name) => `"${name}":${row[name]}`).join(',')}}`,
    ids: () => JSON.parse(row.id),
    next: id === null || requestedAt === null ? null : { requestedAt, id },
  };
}

export interface TailedRunCalls {
  readonly calls: number;
  readonly columns: RunCallColumns;
  readonly position: TailPosition | null;
}

/** Calls come in the order in which they became visible for good. */
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
