/** A stored body as its sender wrote it: the content encoding undone, within a bound, and how much of it is missing. */
import { createContentDecoder, isIdentity } from '../wire/content-encoding.ts';
import type { StoredBody } from './read-body.ts';

export const MAX_DECODED_BODY_BYTES = 20 * 1024 * 1024;

/** The decoder takes a few at a time. */
const CHUNK_BYTES = 64 * 1024;

export type DecodedBody =
  | {
      readonly kind: 'decoded';
      readonly bytes: Buffer;
      /** Bytes of the body as it went over the wire that are not in here: what storage left out, or what follows it. */
      readonly cutBytes: number;
      /** There was more than the bound, and this is its beginning. */
      readonly isOverLimit: boolean;
    }
  | { readonly kind: 'undecodable' };

/**
 * Of a body whose middle was not kept, an encoded one is decoded up to the gap: what follows cannot be. One without an
 * encoding is its head and its tail.
 */
export async function decodeBody(body: StoredBody): Promise<DecodedBody> {
  const { bytes, contentEncoding, totalBytes, headBytes } = body;
  const missing = Math.max(0, totalBytes - bytes.length);
  if (contentEncoding === null || isIdentity(contentEncoding)) {
    const isOverLimit = bytes.length > MAX_DECODED_BODY_BYTES;
    return { kind: 'decoded', bytes: bytes.subarray(0, MAX_DECODED_BODY_BYTES), cutBytes: missing, isOverLimit };
  }
  const encoded = missing === 0 ? bytes : bytes.subarray(0, headBytes);
  const { promise, resolve } = Promise.withResolvers<DecodedBody>();
  const cutBytes = missing === 0 ? 0 : totalBytes - encoded.length;
  const parts: Buffer[] = [];
  let decodedBytes = 0;
  const answer = (isOverLimit: boolean): void =>
    resolve({
      kind: 'decoded',
      bytes: Buffer.concat(parts).subarray(0, MAX_DECODED_BODY_BYTES),
      cutBytes,
      isOverLimit,
    });
  const decoder = createContentDecoder(
    contentEncoding,
    (chunk) => {
      parts.push(chunk);
      decodedBytes += chunk.length;
      if (decodedBytes <= MAX_DECODED_BODY_BYTES) return;
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
