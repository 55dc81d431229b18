/** One stored body as it was on the wire: unpacked, with the sender's content encoding. */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type pg from 'pg';
import { requestedAtOf } from '../../vocabulary/uuid.ts';

const unpack = promisify(zstdDecompress);
/** Far above what is stored of a body, so that a damaged row cannot ask for more memory. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

const COLUMNS = ['packing', 'content_encoding', 'total_bytes', 'head_bytes'] as const;

function bodyQuery(direction: 'request' | 'response'): string {
  return `select b.${direction} as bytes, ${COLUMNS.map((name) => `b.${direction}_${name} as ${name}`).join(', ')}
    from llm_bodies b join llm_requests r on r.id = b.id and r.requested_at = b.requested_at
    where b.id = $1 and b.requested_at = $2 and r.account_id = $3`;
}

const QUERIES = { request: bodyQuery('request'), response: bodyQuery('response') } as const;

export interface StoredBody {
  readonly bytes: Buffer;
  readonly contentEncoding: string | null;
  readonly totalBytes: number;
  readonly headBytes: number;
}

interface BodyRow {
  readonly bytes: Buffer | null;
  readonly packing: string | null;
  readonly content_encoding: string | null;
  readonly total_bytes: number | null;
  readonly head_bytes: number | null;
}

/** Returns null when the call is unknown or this body was not stored. */
export async function readBody(
  pool: pg.Pool,
  accountId: number,
  id: string,
  direction: 'request' | 'response',
): Promise<StoredBody | null> {
  const { rows } = await pool.query<BodyRow>(QUERIES[direction], [id, requestedAtOf(id), accountId]);
  const [row] = rows;
  if (row === undefined || row.bytes === null) return null;
  const bytes = row.packing === 'zstd' ? await unpack(row.bytes, { maxOutputLength: MAX_BODY_BYTES }) : row.bytes;
  return {
    bytes,
    contentEncoding: row.content_encoding,
    totalBytes: row.total_bytes ?? bytes.length,
    headBytes: row.head_bytes ?? bytes.length,
  };
}
