/** Copies text out of a longer one: a V8 slice keeps the whole alive and slows `JSON.stringify` down. */

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
