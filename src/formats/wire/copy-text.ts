/** Copies text out of a longer one: a V8 slice keeps the whole alive and slows `JSON.stringify` down. */

const SHORTEST_REFERENCE = 13;

/** `text` is Latin-1, as headers are. */
export function copyLatin1(text: string): string {
  return text.length < SHORTEST_REFERENCE ? text : Buffer.from(text, 'latin1').toString('latin1');
}
