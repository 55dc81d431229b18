/**
 * Text cut out of a longer one is, in V8, a reference into it: it keeps the whole alive, and one such string among the
 * values makes `JSON.stringify` take two to three times as long. This gives the same text as a string of its own.
 */

/** Shorter pieces are copies anyway. */
const SHORTEST_REFERENCE = 13;

/** `text` is Latin-1, as headers are. */
export function copyLatin1(text: string): string {
  return text.length < SHORTEST_REFERENCE ? text : Buffer.from(text, 'latin1').toString('latin1');
}
