/** What stands in the place of an erased value: the beginning of its SHA-256, so that different values stay apart. */

/** In the place of words. */
export const ERASED = 'erased';

/** SQL, of the SQL of a text. */
export function pseudonymOf(text: string): string {
  return `'${ERASED}:' || left(encode(sha256(convert_to(${text}, 'UTF8')), 'hex'), 16)`;
}
