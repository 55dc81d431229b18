/** Text as a person would search for it: without encoded media, and JSON with its escapes resolved. Pure. */

/** Of one side of a call; what is longer keeps its beginning and its end. */
export const MAX_TEXT_CHARACTERS = 256 * 1024;
const GAP = '\n…\n';

/** No text has a word so long; base64 of media, keys and vectors has. */
const ENCODED_CHARACTERS = 1024;

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

export function plainText(text: string): string {
  const plain = isEscapedJson(text) ? resolveEscapes(text) : text;
  return plain.length < ENCODED_CHARACTERS ? plain : dropEncoded(plain);
}

/** A run that is long enough covers one of these places, so most of a text is not looked at. */
function dropEncoded(text: string): string {
  let kept = '';
  let keptTo = 0;
  for (let at = ENCODED_CHARACTERS - 1; at < text.length; at += ENCODED_CHARACTERS) {
    let start = at;
    let end = at;
    while (start > keptTo && isEncoded(text.charCodeAt(start - 1))) start -= 1;
    while (end < text.length && isEncoded(text.charCodeAt(end))) end += 1;
    if (end - start < ENCODED_CHARACTERS) continue;
    kept += `${text.slice(keptTo, start)}…`;
    keptTo = end;
    at = Math.max(at, end - 1);
  }
  return keptTo === 0 ? text : kept + text.slice(keptTo);
}

/** Base64 in both alphabets. */
function isEncoded(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    code === 43 ||
    code === 45 ||
    code === 47 ||
    code === 61 ||
    code === 95
  );
}

/** Arguments and results of tools are often JSON in a text: whole, or it stays as it is. */
function isEscapedJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text) || !text.includes('\\')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function resolveEscapes(json: string): string {
  return json.replace(ESCAPE, (_escape, code: string | undefined, letter = '') =>
    code === undefined ? (ESCAPES[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Joins with line ends, within the limit. */
export function joinTexts(texts: readonly string[]): string {
  const text = texts.join('\n');
  if (text.length <= MAX_TEXT_CHARACTERS) return text;
  const half = Math.floor((MAX_TEXT_CHARACTERS - GAP.length) / 2);
  return dropHalves(text.slice(0, half)) + GAP + dropHalves(text.slice(-half));
}

/** Halves of surrogate pairs at the edges of a cut. */
function dropHalves(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
