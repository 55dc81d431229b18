/** Text from outside (names, metadata, messages) made harmless for a terminal: it shows, but it cannot command. */

/** Control characters, line and paragraph separators, and the marks that turn the direction of text around. */
const UNSAFE = /[\p{Cc}\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** Each unsafe character as `\x1b` or `\u202e`: nothing is hidden. */
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
