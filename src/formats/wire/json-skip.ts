/** Skips JSON quickly by brackets and strings: these loops see most bytes of an answer with vectors. */

const QUOTE = 34;
const BRACKET = 91;
const BACKSLASH = 92;
const CLOSING_BRACKET = 93;
const BRACE = 123;
const CLOSING_BRACE = 125;

const STRING = 1;
const OPENING = 2;
const CLOSING = 3;
const TURNS = new Uint8Array(256);
for (const [marks, turn] of [
  ['"', STRING],
  ['{[', OPENING],
  ['}]', CLOSING],
] as const)
  for (const mark of marks) TURNS[mark.charCodeAt(0)] = turn;

export interface Skipped {
  /** After the bracket that closed the last level, or the end. */
  readonly at: number;
  readonly levels: number;
  /** The bytes ended within a string, or within an escape in one. */
  readonly cut: 'no' | 'string' | 'escape';
}

/** Skips from inside `levels` open containers to the end of the outermost. */
export function skipLevels(bytes: Buffer, from: number, levels: number): Skipped {
  const { length } = bytes;
  let open = levels;
  let at = from;
  while (at < length) {
    const turn = TURNS[bytes[at] ?? 0];
    at += 1;
    if (turn === 0) continue;
    if (turn === STRING) {
      while (at < length) {
        const byte = bytes[at];
        if (byte === QUOTE) break;
        at += byte === BACKSLASH ? 2 : 1;
      }
      if (at >= length) return { at: length, levels: open, cut: at > length ? 'escape' : 'string' };
      at += 1;
    } else if (turn === OPENING) open += 1;
    else {
      open -= 1;
      if (open === 0) return { at, levels: 0, cut: 'no' };
    }
  }
  return { at, levels: open, cut: 'no' };
}

/** Skips numbers: a few searches are quicker than a walk. */
export function endOfRow(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(CLOSING_BRACKET, from);
  const row = bytes.subarray(from, found === -1 ? bytes.length : found);
  const isPlain = row.indexOf(QUOTE) === -1 && row.indexOf(BRACKET) === -1 && row.indexOf(BRACE) === -1;
  return isPlain && row.indexOf(CLOSING_BRACE) === -1 ? from + row.length : from;
}
