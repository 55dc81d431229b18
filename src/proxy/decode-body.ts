/** Decodes a whole request body in memory, bounded, where it must be read before it is sent on. What is sent on stays encoded. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, zstdDecompress } from 'node:zlib';

/** A larger one is not read. */
const MAX_DECODED_BYTES = 32 * 1024 * 1024;

type Decode = (bytes: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  br: promisify(brotliDecompress),
  zstd: promisify(zstdDecompress),
};

/** Null for another encoding, several, broken bytes, and too many. Never rejects. */
export async function decodeBody(contentEncoding: string, bytes: Buffer): Promise<Buffer | null> {
  const name = contentEncoding.trim().toLowerCase();
  const decode = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (decode === undefined) return null;
  try {
    return await decode(bytes, { maxOutputLength: MAX_DECODED_BYTES });
  } catch {
    return null;
  }
}
