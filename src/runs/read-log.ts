/** One call by its id: the row of its ending, or what is known while it is open. A look-up touches one partition. */
import type pg from 'pg';
import { formatLogRecord, LOG_COLUMN_NAMES, type LogRecord, toJsonValue } from './log-record.ts';
import { readNeighbours } from './read-neighbours.ts';

/** A UUIDv7 carries its millisecond in the first 48 bits, and `requested_at` is exactly that. */
export function requestedAtOf(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}

const OPEN_COLUMNS = [
  'id',
  'requested_at',
  'account_id',
  'key_id',
  'node',
  'provider',
  'endpoint',
  'model_requested',
  'trace_id',
  'span_path',
  'span_key',
  'span_name',
] as const;

/** Its neighbours in its run, or nulls outside runs. */
async function readPlace(
  pool: pg.Pool,
  accountId: number,
  id: string,
  row: Readonly<Record<string, unknown>>,
): Promise<LogRecord> {
  const traceId = row['trace_id'];
  if (typeof traceId !== 'string') return { previous_id: null, next_id: null };
  return { ...(await readNeighbours(pool, accountId, traceId, requestedAtOf(id), id)) };
}

/** `state` is `ended` or `open`; an open call has the columns that are known at its beginning, the others are null. */
export async function readLog(pool: pg.Pool, accountId: number, id: string): Promise<LogRecord | null> {
  const requestedAt = requestedAtOf(id);
  const ended = await pool.query<Record<string, unknown>>(
    `select ${LOG_COLUMN_NAMES.join(', ')} from llm_requests where id = $1 and requested_at = $2 and account_id = $3`,
    [id, requestedAt, accountId],
  );
  const [row] = ended.rows;
  if (row !== undefined) {
    const bodies = await readBodyFacts(pool, id, requestedAt);
    const place = await readPlace(pool, accountId, id, row);
    return { state: 'ended', ...formatLogRecord(row, LOG_COLUMN_NAMES), ...bodies, ...place };
  }
  const open = await pool.query<Record<string, unknown>>(
    `select ${OPEN_COLUMNS.join(', ')} from llm_open_calls where id = $1 and account_id = $2`,
    [id, accountId],
  );
  const [begun] = open.rows;
  if (begun === undefined) return null;
  const place = await readPlace(pool, accountId, id, begun);
  return { state: 'open', ...formatLogRecord(begun, LOG_COLUMN_NAMES), headers: null, bodies: null, ...place };
}

/** What was kept of headers and bodies, without the bodies. */
async function readBodyFacts(pool: pg.Pool, id: string, requestedAt: Date): Promise<LogRecord> {
  const { rows } = await pool.query<Record<string, unknown>>(
    `select headers,
       case when request is not null then jsonb_build_object('content_type', request_content_type,
         'content_encoding', request_content_encoding, 'total_bytes', request_total_bytes,
         'head_bytes', request_head_bytes) end as request,
       case when response is not null then jsonb_build_object('content_type', response_content_type,
         'content_encoding', response_content_encoding, 'total_bytes', response_total_bytes,
         'head_bytes', response_head_bytes) end as response
     from llm_bodies where id = $1 and requested_at = $2`,
    [id, requestedAt],
  );
  const [row] = rows;
  if (row === undefined) return { headers: null, bodies: null };
  return {
    headers: toJsonValue(row['headers']),
    bodies: { request: toJsonValue(row['request']), response: toJsonValue(row['response']) },
  };
}
