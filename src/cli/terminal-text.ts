/** Makes text from outside safe for a terminal. */

/** Control characters, line and paragraph separators, and bidirectional marks. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Shows each unsafe character as `\x1b` or `\u202e`. */
export function terminalText(text: string): string {
  return text.replace(UNSAFE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** At most `width` characters; the last one is then "…". */
export function cutText(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Chinese, Japanese and Korean characters and emoji take two places. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}]/u;

/** At most `width` places of a terminal; the last character is then "…". */
export function cutToWidth(text: string, width: number): string {
  let places = 0;
  let end = 0;
  let cutAt = 0;
  for (const character of text) {
    places += WIDE.test(character) ? 2 : 1;
    if (places > width) return `${text.slice(0, cutAt)}…`;
    end += character.length;
    if (places < width) cutAt = end;
  }
  return text;
}

/** One word as a shell reads it back. */
export function quoteForShell(word: string): string {
  return /^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
