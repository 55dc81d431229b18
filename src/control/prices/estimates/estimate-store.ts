/** Reads calls that wait for an estimate, and their bodies; writes the estimates. */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import type pg from 'pg';
import type { JsonObject } from '../../../vocabulary/token-usage.ts';
import type { StoredBody } from '../../log/read-body.ts';
import { BILLABLE_COLUMNS, type BillableRow } from '../declared/billable-from-row.ts';

const decompress = promisify(zstdDecompress);
/** Far above what is stored of one body: a damaged row cannot demand more memory. */
const MAX_BODY_BYTES = 16 * 1024 * 1024;

/** Reached a provider, without full usage. Must equal the index condition in migration 0007. */
const WAITS = `estimated_tokens is null and usage_source in ('none', 'partial')
  and cost_status in ('no_usage', 'partial', 'unpriced') and endpoint <> 'unknown'
  and outcome in ('ok', 'client_closed', 'upstream_truncated', 'upstream_stream_error', 'shutdown_cut', 'interrupted')`;

/** $1: how far back; $2: how many. */
export const LIST_WAITING_CALLS = `select ${BILLABLE_COLUMNS.join(', ')} from llm_requests
  where ${WAITS} and requested_at >= $1 order by requested_at desc limit $2`;

export async function listWaitingCalls(
  client: pg.ClientBase,
  sinceMs: number,
  limit: number,
): Promise<readonly BillableRow[]> {
  const { rows } = await client.query<BillableRow>(LIST_WAITING_CALLS, [new Date(sinceMs), limit]);
  return rows;
}

export interface TypedBody extends StoredBody {
  readonly contentType: string | null;
}

export interface CallBodies {
  readonly request: TypedBody | null;
  readonly response: TypedBody | null;
}

const SIDES = ['request', 'response'] as const;
type Side = (typeof SIDES)[number];

interface BodyRow {
  readonly side: Side;
  readonly bytes: Buffer;
  readonly packing: string | null;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
  readonly total_bytes: number | null;
  readonly head_bytes: number | null;
}

async function unpack({ bytes, packing }: BodyRow): Promise<Buffer | null> {
  if (packing !== 'zstd') return bytes;
  try {
    return await decompress(bytes, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    return null;
  }
}

const READ_BODIES = SIDES.map(
  (
    side,
  ) => `select '${side}' as side, ${side} as bytes, ${side}_packing as packing, ${side}_content_type as content_type,
    ${side}_content_encoding as content_encoding, ${side}_total_bytes as total_bytes, ${side}_head_bytes as head_bytes
  from llm_bodies where id = $1 and requested_at = $2 and ${side} is not null`,
).join(' union all ');

export async function readCallBodies(client: pg.ClientBase, call: BillableRow): Promise<CallBodies> {
  const { rows } = await client.query<BodyRow>(READ_BODIES, [call.id, call.requested_at]);
  const read = async (side: Side): Promise<TypedBody | null> => {
    const row = rows.find((found) => found.side === side);
    if (row === undefined) return null;
    const bytes = await unpack(row);
    // A damaged body counts as missing and is not retried.
    if (bytes === null) return null;
    return {
      bytes,
      contentType: row.content_type,
      contentEncoding: row.content_encoding,
      totalBytes: row.total_bytes ?? bytes.length,
      headBytes: row.head_bytes ?? bytes.length,
    };
  };
  return { request: await read('request'), response: await read('response') };
}

/** Writes only while no exact usage has come. It touches no other column, and so no roll-up. */
export async function writeEstimate(
  client: pg.ClientBase,
  call: BillableRow,
  estimatedTokens: JsonObject,
  estimatedCost: string | null,
): Promise<void> {
  await client.query(
    `update llm_requests set estimated_tokens = $3, estimated_cost = $4
     where id = $1 and requested_at = $2 and estimated_tokens is null and usage_source in ('none', 'partial')`,
    [call.id, call.requested_at, JSON.stringify(estimatedTokens), estimatedCost],
  );
}
