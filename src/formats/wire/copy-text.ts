/**
 * Copies text that is a slice of a longer one or put together of parts, as V8 keeps both: a slice keeps the whole alive, and
 * either makes `JSON.stringify` of all that it stands in several times slower.
 */

const SHORTEST_REFERENCE = 13;
/** Longer than most headers. It saves a buffer for each text. */
const scratch = Buffer.allocUnsafeSlow(1_024);

/** `text` is Latin-1, as headers are. */
export function copyLatin1(text: string): string {
  const { length } = text;
  if (length < SHORTEST_REFERENCE) return text;
  if (length > scratch.length) return Buffer.from(text, 'latin1').toString('latin1');
  scratch.write(text, 'latin1');
  return scratch.toString('latin1', 0, length);
}
