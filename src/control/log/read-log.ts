/** One call by its id: the row of its ending, or what is known while it is open. The look-up touches one partition. */
import type pg from 'pg';
import { requestedAtOf } from '../../vocabulary/uuid.ts';
import { LOG_COLUMN_NAMES } from '../store/log-columns.ts';
import { formatLogRecord } from './log-record.ts';
import type { LogDetail } from './log-schema.ts';
import type { SqlRow } from './run-sql.ts';

type KeptParts = Pick<LogDetail, 'headers' | 'bodies'>;

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

interface Neighbours {
  readonly previous_id: string | null;
  readonly next_id: string | null;
}

const NEIGHBOURS = `
  select
    (select id from llm_requests where account_id = $1 and trace_id = $2
       and (requested_at, id) < ($3::timestamptz, $4::uuid) and requested_at <= $3
     order by requested_at desc, id desc limit 1) as previous_id,
    (select id from llm_requests where account_id = $1 and trace_id = $2
       and (requested_at, id) > ($3::timestamptz, $4::uuid) and requested_at >= $3
     order by requested_at, id limit 1) as next_id`;

/** The calls before and after one in its run, without open calls. */
async function readNeighbours(pool: pg.Pool, accountId: number, id: string, row: SqlRow): Promise<Neighbours> {
  const traceId = row['trace_id'];
  const none = { previous_id: null, next_id: null };
  if (typeof traceId !== 'string') return none;
  const { rows } = await pool.query<Neighbours>(NEIGHBOURS, [accountId, traceId, requestedAtOf(id), id]);
  return rows[0] ?? none;
}

export async function readLog(pool: pg.Pool, accountId: number, id: string): Promise<LogDetail | null> {
  const requestedAt = requestedAtOf(id);
  const ended = await pool.query<Record<string, unknown>>(
    `select ${LOG_COLUMN_NAMES.join(', ')} from llm_requests where id = $1 and requested_at = $2 and account_id = $3`,
    [id, requestedAt, accountId],
  );
  const [row] = ended.rows;
  if (row !== undefined) {
    const bodies = await describeBodies(pool, id, requestedAt);
    const place = await readNeighbours(pool, accountId, id, row);
    return { state: 'ended', ...formatLogRecord(row, LOG_COLUMN_NAMES), ...bodies, ...place };
  }
  const open = await pool.query<Record<string, unknown>>(
    `select ${OPEN_COLUMNS.join(', ')} from llm_open_calls where id = $1 and account_id = $2`,
    [id, accountId],
  );
  const [begun] = open.rows;
  if (begun === undefined) return null;
  const place = await readNeighbours(pool, accountId, id, begun);
  return { state: 'open', ...formatLogRecord(begun, LOG_COLUMN_NAMES), headers: null, bodies: null, ...place };
}

async function describeBodies(pool: pg.Pool, id: string, requestedAt: Date): Promise<KeptParts> {
  const { rows } = await pool.query<Pick<KeptParts, 'headers'> & NonNullable<KeptParts['bodies']>>(
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
  return { headers: row.headers, bodies: { request: row.request, response: row.response } };
}
