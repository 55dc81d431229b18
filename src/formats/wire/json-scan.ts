/** Finds where JSON values end by brackets and quotes alone. It does not validate; long strings cost one search. */

const QUOTE = 34;
const BACKSLASH = 92;
/** Short strings are walked, which is quicker than a search. */
const WALK_BYTES = 32;

export function isJsonSpace(byte: number | undefined): boolean {
  return byte === 32 || byte === 10 || byte === 13 || byte === 9;
}

export function skipSpace(json: Buffer, from: number): number {
  let pos = from;
  while (isJsonSpace(json[pos])) pos += 1;
  return pos;
}

/** `open` is the opening quote. Returns the index after the closing one, or -1 when cut. */
export function endOfString(json: Buffer, open: number): number {
  const length = json.length;
  let pos = open + 1;
  for (;;) {
    const walkEnd = Math.min(length, pos + WALK_BYTES);
    while (pos < walkEnd) {
      const byte = json[pos];
      if (byte === QUOTE) return pos + 1;
      pos += byte === BACKSLASH ? 2 : 1;
    }
    if (pos >= length) return -1;
    // No escape is open here. A quote after an odd run of backslashes is text.
    const quote = json.indexOf(QUOTE, pos);
    if (quote === -1) return -1;
    let run = quote;
    while (run > pos && json[run - 1] === BACKSLASH) run -= 1;
    if ((quote - run) % 2 === 0) return quote + 1;
    pos = quote + 1;
  }
}

/** `from` is a value's first byte. Returns the index after the value, or -1 when it is cut or invalid. */
export function endOfValue(json: Buffer, from: number): number {
  const first = json[from];
  if (first === QUOTE) return endOfString(json, from);
  if (first === 123 || first === 91) return endOfBrackets(json, from);
  let pos = from;
  while (pos < json.length && isScalarByte(json[pos])) pos += 1;
  // A number at the end of the input may go on.
  return pos === from || pos === json.length ? -1 : pos;
}

function isScalarByte(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 48 && byte <= 57) ||
    (byte >= 97 && byte <= 122) ||
    byte === 69 ||
    byte === 43 ||
    byte === 45 ||
    byte === 46
  );
}

function endOfBrackets(json: Buffer, from: number): number {
  const length = json.length;
  let depth = 0;
  let pos = from;
  while (pos < length) {
    const byte = json[pos];
    if (byte === QUOTE) {
      pos = endOfString(json, pos);
      if (pos === -1) return -1;
      continue;
    }
    pos += 1;
    if (byte === 123 || byte === 91) depth += 1;
    else if (byte === 125 || byte === 93) {
      depth -= 1;
      if (depth === 0) return pos;
    }
  }
  return -1;
}
