/** Reads one parameter of a header: `value; name=token; name="quoted"`. */

const TOKEN_END = /[;\s]/;

/** The first parameter of that lower-case name without quotes and backslashes, or null. */
export function readParameter(header: string, name: string): string | null {
  let pos = header.indexOf(';');
  while (pos !== -1) {
    const equals = header.indexOf('=', pos + 1);
    if (equals === -1) return null;
    const found = header
      .slice(pos + 1, equals)
      .trim()
      .toLowerCase();
    const start = equals + 1 + countSpace(header, equals + 1);
    const { value, end } = header[start] === '"' ? readQuoted(header, start) : readToken(header, start);
    if (found === name) return value;
    pos = header.indexOf(';', end);
  }
  return null;
}

function countSpace(text: string, from: number): number {
  let count = 0;
  while (text[from + count] === ' ' || text[from + count] === '\t') count += 1;
  return count;
}

function readToken(text: string, start: number): { value: string; end: number } {
  const length = text.slice(start).search(TOKEN_END);
  const end = length === -1 ? text.length : start + length;
  return { value: text.slice(start, end), end };
}

function readQuoted(text: string, start: number): { value: string; end: number } {
  let value = '';
  let pos = start + 1;
  while (pos < text.length && text[pos] !== '"') {
    // Only quotes and backslashes are escaped: old browsers send file names with bare backslashes.
    if (text[pos] === '\\' && (text[pos + 1] === '"' || text[pos + 1] === '\\')) pos += 1;
    value += text[pos] ?? '';
    pos += 1;
  }
  return { value, end: pos + 1 };
}
