/**
 * Tells a piece of a picture or of sound, written as base64 inside JSON text, from everything else, by its bytes alone:
 * nothing in JSON but the middle of a string goes on for so long without a space, a comma or a mark.
 */

/** Shorter pieces are kept: they cost little, and names and ids may look the same. */
export const MIN_BASE64_RUN_BYTES = 1024;

/** Both alphabets of base64, and the filling at its end. */
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=';
const IS_BASE64 = Uint8Array.from({ length: 256 }, (_, byte) => (ALPHABET.includes(String.fromCharCode(byte)) ? 1 : 0));

/** Other text fails within its first few bytes, so that asking costs nothing. */
export function isBase64Run(bytes: Buffer): boolean {
  if (bytes.length < MIN_BASE64_RUN_BYTES) return false;
  for (let index = 0; index < bytes.length; index += 1) {
    if (IS_BASE64[bytes[index] ?? 0] === 0) return false;
  }
  return true;
}
