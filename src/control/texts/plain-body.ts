/** A kept body with its content encoding undone, as the readers of texts take it, within a bound. */
import { brotliDecompressSync, constants, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { PlainBody } from '../../formats/texts/call-texts.ts';
import { isIdentity } from '../../formats/wire/content-encoding.ts';
import { decodeBody } from '../log/decode-body.ts';
import type { StoredBody } from '../log/read-body.ts';

/** Bounds the time that a text takes; the rest of a longer body is not read. */
export const MAX_READ_BYTES = 2 * 1024 * 1024;
/** A small body is decoded in a tenth of the time that a stream takes. */
const SMALL_BYTES = 64 * 1024;

const DECODERS: Readonly<Record<string, (bytes: Buffer, maxOutputLength: number) => Buffer>> = {
  gzip: (bytes, maxOutputLength) => gunzipSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  deflate: (bytes, maxOutputLength) => inflateSync(bytes, { maxOutputLength, finishFlush: constants.Z_SYNC_FLUSH }),
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { maxOutputLength, finishFlush: constants.BROTLI_OPERATION_FLUSH }),
  zstd: (bytes, maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength, finishFlush: constants.ZSTD_e_flush }),
};

export interface KeptBody extends StoredBody {
  readonly contentType: string | null;
}

/** Null when the encoding cannot be undone. */
export async function readPlainBody(body: KeptBody): Promise<PlainBody | null> {
  const { contentType, contentEncoding, bytes, headBytes, totalBytes } = body;
  if (isIdentity(contentEncoding)) {
    const hasGap = totalBytes > bytes.length && headBytes < bytes.length;
    return {
      head: hasGap ? bytes.subarray(0, headBytes) : bytes,
      tail: hasGap ? bytes.subarray(headBytes) : null,
      contentType,
    };
  }
  const head = decodeSmall(body) ?? (await decodeAny(body));
  return head === null ? null : { head, tail: null, contentType };
}

/** Null when it is not small, and for everything unusual. */
function decodeSmall({ bytes, contentEncoding, totalBytes }: KeptBody): Buffer | null {
  if (bytes.length > SMALL_BYTES || bytes.length < totalBytes) return null;
  const decode = DECODERS[(contentEncoding ?? '').trim().toLowerCase()];
  try {
    return decode?.(bytes, MAX_READ_BYTES) ?? null;
  } catch {
    return null;
  }
}

async function decodeAny(body: KeptBody): Promise<Buffer | null> {
  const decoded = await decodeBody(body, MAX_READ_BYTES);
  return decoded.kind === 'decoded' ? decoded.bytes : null;
}
