/**
 * A request, to be searched for names and types. JSON may write any letter as an escape (`"im\u0061ge"`), so a search of the
 * bytes alone would miss what the provider reads.
 */

const ESCAPE = '\\u00';
/** A digit, a letter or `_`: all that names and types are made of. Of `<`, `&` and quotes many encoders make escapes. */
const HIDES = /\\u00(?:3\d|[46][1-9a-f]|[57][\da]|5f)/i;
const BACKSLASH = 92;
const U = 117;
const ESCAPE_BYTES = 6;

/** Without one, which nearly all are, its bytes can be searched as they are. */
export function mayHideLetters(body: Buffer): boolean {
  return body.includes(BACKSLASH) && body.includes(ESCAPE) && HIDES.test(body.toString('latin1'));
}

/** Its letters, digits and `_` stand as they are; all else is left, so that no string ends elsewhere. */
export function resolveLetters(body: Buffer): Buffer {
  const resolved = Buffer.alloc(body.length);
  let length = 0;
  let from = 0;
  for (let at = body.indexOf(BACKSLASH); at !== -1; at = body.indexOf(BACKSLASH, from)) {
    length += body.copy(resolved, length, from, at);
    const written = body[at + 1] === U ? body.toString('latin1', at, at + ESCAPE_BYTES) : '';
    if (HIDES.test(written)) {
      resolved[length] = Number.parseInt(written.slice(ESCAPE.length), 16);
      length += 1;
      from = at + ESCAPE_BYTES;
    } else {
      // A backslash that is escaped itself begins nothing.
      length += body.copy(resolved, length, at, at + 2);
      from = at + 2;
    }
  }
  length += body.copy(resolved, length, from);
  return resolved.subarray(0, length);
}

/** As Latin-1, one character for each byte. */
export function readSearchText(body: Buffer): string {
  return (mayHideLetters(body) ? resolveLetters(body) : body).toString('latin1');
}
