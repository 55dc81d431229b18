/** Undoes the encoding of a request's body, within a bound: some clients compress what they send. */
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';

const MAX_TEXT_BYTES = 64 * 1024 * 1024;

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  br: brotliDecompressSync,
  deflate: inflateSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** Null for an encoding that is not known, and for bytes that are not encoded so or become too large. */
export function decodeText(bytes: Buffer, encoding: string | undefined): string | null {
  if (encoding === undefined || encoding === 'identity') return bytes.toString('utf8');
  const decode = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  try {
    return decode?.(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString('utf8') ?? null;
  } catch {
    return null;
  }
}
