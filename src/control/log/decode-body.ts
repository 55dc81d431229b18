/** Undoes the content encoding of a stored body, within a bound, and says how much of it is missing. */
import { createContentDecoder, isIdentity } from '../../formats/wire/content-encoding.ts';
import type { StoredBody } from './read-body.ts';

export const MAX_DECODED_BODY_BYTES = 20 * 1024 * 1024;

const CHUNK_BYTES = 64 * 1024;

export type DecodedBody =
  | {
      readonly kind: 'decoded';
      readonly bytes: Buffer;
      /** Bytes of the body on the wire that are missing here, not stored or behind the stored part. */
      readonly cutBytes: number;
      /** This is the beginning of a body that exceeds the bound. */
      readonly isOverLimit: boolean;
    }
  | { readonly kind: 'undecodable' };

/** An encoded body without its middle is decoded up to the gap; one without an encoding is head and tail. */
export async function decodeBody(body: StoredBody, maxBytes = MAX_DECODED_BODY_BYTES): Promise<DecodedBody> {
  const { bytes, contentEncoding, totalBytes, headBytes } = body;
  const missing = Math.max(0, totalBytes - bytes.length);
  if (contentEncoding === null || isIdentity(contentEncoding)) {
    const isOverLimit = bytes.length > maxBytes;
    return { kind: 'decoded', bytes: bytes.subarray(0, maxBytes), cutBytes: missing, isOverLimit };
  }
  const encoded = missing === 0 ? bytes : bytes.subarray(0, headBytes);
  const { promise, resolve } = Promise.withResolvers<DecodedBody>();
  const cutBytes = missing === 0 ? 0 : totalBytes - encoded.length;
  const parts: Buffer[] = [];
  let decodedBytes = 0;
  const answer = (isOverLimit: boolean): void =>
    resolve({
      kind: 'decoded',
      bytes: Buffer.concat(parts).subarray(0, maxBytes),
      cutBytes,
      isOverLimit,
    });
  const decoder = createContentDecoder(
    contentEncoding,
    (chunk) => {
      parts.push(chunk);
      decodedBytes += chunk.length;
      if (decodedBytes <= maxBytes) return;
      decoder?.destroy();
      answer(true);
    },
    (end) => {
      if (end === 'undecodable') resolve({ kind: 'undecodable' });
      else answer(end === 'limit');
    },
  );
  if (decoder === null) return { kind: 'undecodable' };
  for (let start = 0; start < encoded.length; start += CHUNK_BYTES)
    decoder.push(encoded.subarray(start, start + CHUNK_BYTES));
  decoder.end();
  return promise;
}
