/** The beginning of a text for a list: one line, cut between the characters that a reader sees. Pure. */

export const SNIPPET_CHARACTERS = 120;
/** Of one snippet: a character that a reader sees may be made of any number of them. */
const MAX_UNITS = 4 * SNIPPET_CHARACTERS;
const ELLIPSIS = '…';
/** Mostly enough of a text; where white space folds, more of it is read. */
const FIRST_READ_UNITS = 2 * SNIPPET_CHARACTERS + 64;
const MAX_READ_UNITS = 4 * MAX_UNITS;

const SPACE = /[\s\p{Cc}]+/gu;
/** Latin, Greek, Cyrillic, Chinese, Japanese, Korean and symbols, none of which joins with another: a quick look. */
const PLAIN =
  /^[\0-\u02ff\u0370-\u0482\u048a-\u058f\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2100-\u2bff\u3000-\u3029\u3030-\u3098\u309b-\ua66e\uac00-\ud7a3\uff00-\uffef]*$/;
/** Code points that join with others to one character: without them each is one. */
const JOINING = /[\p{M}\p{Cf}\p{Emoji_Modifier}\p{Regional_Indicator}\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]/u;

export function makeSnippet(texts: readonly string[]): string {
  const line = joinLine(texts, FIRST_READ_UNITS);
  return cut(isEnough(line) ? line : joinLine(texts, MAX_READ_UNITS));
}

function joinLine(texts: readonly string[], units: number): string {
  let line = '';
  for (const text of texts) {
    const start = text.trimStart();
    const part = start.slice(0, units).replace(SPACE, ' ').trim();
    if (part !== '') line += line === '' ? part : ` ${part}`;
    if (start.length > units || line.length > MAX_UNITS) break;
  }
  return line.toWellFormed();
}

/** Whether a cut needs nothing beyond the first read. */
function isEnough(line: string): boolean {
  return line.length >= 2 * SNIPPET_CHARACTERS + 2 && (PLAIN.test(line) || !JOINING.test(line));
}

function cut(line: string): string {
  if (line.length <= SNIPPET_CHARACTERS) return line;
  if (PLAIN.test(line.slice(0, SNIPPET_CHARACTERS)))
    return `${line.slice(0, SNIPPET_CHARACTERS - 1).trimEnd()}${ELLIPSIS}`;
  // Two code units at most make a code point.
  const beginning = line.slice(0, 2 * SNIPPET_CHARACTERS + 2);
  if (!JOINING.test(beginning)) {
    const characters = [...beginning];
    if (characters.length <= SNIPPET_CHARACTERS) return line;
    return `${characters
      .slice(0, SNIPPET_CHARACTERS - 1)
      .join('')
      .trimEnd()}${ELLIPSIS}`;
  }
  const ends: number[] = [];
  for (const { index, segment } of new Intl.Segmenter().segment(line.slice(0, MAX_UNITS))) {
    ends.push(index + segment.length);
    if (ends.length > SNIPPET_CHARACTERS) break;
  }
  if (ends.length <= SNIPPET_CHARACTERS && ends.at(-1) === line.length) return line;
  const end = ends[Math.min(ends.length, SNIPPET_CHARACTERS) - 2] ?? SNIPPET_CHARACTERS;
  return `${line.slice(0, end).toWellFormed().trimEnd()}${ELLIPSIS}`;
}
