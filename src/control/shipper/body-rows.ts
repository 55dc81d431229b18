/** Bodies and logged headers as rows of `llm_bodies`, compressed here to spare the database. */
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdCompressSync } from 'node:zlib';
import type { CallBody } from '../../vocabulary/call-record.ts';
import {
  type BinaryField,
  binaryInt4,
  binaryInt8,
  binaryJson,
  binaryTime,
  binaryUuid,
  encodeCopyBinary,
} from '../store/copy-binary.ts';
import { storableJson, storableText } from '../store/copy-text.ts';
import type { CallItem } from './batch-item.ts';

const compress = promisify(zstdCompress);
const PARAMETERS = { [constants.ZSTD_c_compressionLevel]: 1 };
const MIN_COMPRESSED_BYTES = 512;
/** Up to this size the thread pool costs more than the compression, which takes about 0.1 ms. */
const SYNC_COMPRESSED_BYTES = 64 * 1024;

const ROWS_BETWEEN_PAUSES = 16;

const SIDE_COLUMNS = ['', '_packing', '_content_type', '_content_encoding', '_total_bytes', '_head_bytes'] as const;

export const COPY_BODIES = `copy llm_bodies (id, requested_at, headers, ${(['request', 'response'] as const)
  .flatMap((side) => SIDE_COLUMNS.map((column) => `${side}${column}`))
  .join(', ')}) from stdin with (format binary)`;

/** Returns null when no call has a body or a logged header. */
export async function encodeBodyRows(calls: readonly CallItem[]): Promise<Buffer | null> {
  const rows: (readonly BinaryField[])[] = [];
  for (const call of calls) {
    if (!hasBodyRow(call)) continue;
    rows.push(await encodeRow(call));
    // Lets the process serve its API.
    if (rows.length % ROWS_BETWEEN_PAUSES === 0) await setImmediate();
  }
  return rows.length === 0 ? null : encodeCopyBinary(rows);
}

function hasBodyRow(call: CallItem): boolean {
  return call.bodies.length > 0 || call.requestHeaders.length > 0 || call.responseHeaders.length > 0;
}

async function encodeRow(call: CallItem): Promise<readonly BinaryField[]> {
  const headers = storableJson({ request: call.requestHeaders, response: call.responseHeaders });
  return [
    binaryUuid(call.row.id),
    binaryTime(call.row.requested_at.getTime()),
    binaryJson(headers),
    ...(await encodeSide(call.bodies.find((body) => body.direction === 'request'))),
    ...(await encodeSide(call.bodies.find((body) => body.direction === 'response'))),
  ];
}

async function encodeSide(body: CallBody | undefined): Promise<readonly BinaryField[]> {
  if (body === undefined) return SIDE_COLUMNS.map(() => null);
  const packed = await pack(body);
  return [
    packed.bytes,
    Buffer.from(packed.packing),
    binaryText(body.contentType),
    binaryText(body.contentEncoding),
    binaryInt8(body.totalBytes),
    binaryInt4(body.headBytes),
  ];
}

/** A body that the client compressed is stored as it came. */
async function pack(body: CallBody): Promise<{ readonly bytes: Buffer; readonly packing: 'none' | 'zstd' }> {
  const isEncoded = body.contentEncoding !== null && body.contentEncoding.toLowerCase() !== 'identity';
  if (isEncoded || body.bytes.length < MIN_COMPRESSED_BYTES) return { bytes: body.bytes, packing: 'none' };
  const isSmall = body.bytes.length <= SYNC_COMPRESSED_BYTES;
  const packed = isSmall
    ? zstdCompressSync(body.bytes, { params: PARAMETERS, chunkSize: body.bytes.length })
    : await compress(body.bytes, { params: PARAMETERS });
  return packed.length < body.bytes.length
    ? { bytes: packed, packing: 'zstd' }
    : { bytes: body.bytes, packing: 'none' };
}

function binaryText(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(storableText(text));
}
