/** One stored body as it went over the wire; our own packing is undone, the sender's content encoding is not. */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type pg from 'pg';
import { requestedAtOf } from './read-log.ts';

const unpack = promisify(zstdDecompress);
/** Far above what is stored of one body (head and tail); a damaged row cannot ask for more memory. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const QUERIES = {
  request: `select b.request as bytes, b.request_packing as packing from llm_bodies b`,
  response: `select b.response as bytes, b.response_packing as packing from llm_bodies b`,
} as const;

/** Null when the call is unknown or this body was not kept. */
export async function readBody(
  pool: pg.Pool,
  accountId: number,
  id: string,
  direction: 'request' | 'response',
): Promise<Buffer | null> {
  const { rows } = await pool.query<{ bytes: Buffer | null; packing: string | null }>(
    `${QUERIES[direction]} join llm_requests r on r.id = b.id and r.requested_at = b.requested_at
     where b.id = $1 and b.requested_at = $2 and r.account_id = $3`,
    [id, requestedAtOf(id), accountId],
  );
  const bytes = rows[0]?.bytes ?? null;
  if (bytes === null) return null;
  return rows[0]?.packing === 'zstd' ? unpack(bytes, { maxOutputLength: MAX_BODY_BYTES }) : bytes;
}
