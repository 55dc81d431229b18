/** Reads JSON that ends too early: what is open at its end is closed there. It does not mend anything else. */
import type { JsonValue } from '../token-usage.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;

/** Deeper nesting is not read. */
const MAX_DEPTH = 200;

/** The value, or undefined when the text is no beginning of JSON. */
export function parseCutJson(text: string): JsonValue | undefined {
  return parse(text) ?? parse(closeJson(text));
}

function parse(text: string | null): JsonValue | undefined {
  if (text === null) return undefined;
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A place after which everything open could be closed: behind a value, before a comma, behind an opening bracket. */
interface Place {
  readonly end: number;
  readonly closers: string;
}

function closeJson(text: string): string | null {
  // Mutable because the text is walked once, byte for byte.
  let closers = '';
  let safe: Place | null = null;
  let pos = 0;
  let isValue = true;
  while (pos < text.length) {
    const code = text.charCodeAt(pos);
    if (code === QUOTE) {
      const end = endOfString(text, pos);
      if (end === -1) return isValue ? closeString(text, pos) + closers : closeAt(text, safe);
      pos = end;
      if (isValue) safe = { end, closers };
      isValue = false;
      continue;
    }
    if (code === 123 || code === 91) {
      closers = (code === 123 ? '}' : ']') + closers;
      if (closers.length > MAX_DEPTH) return null;
      safe = { end: pos + 1, closers };
    } else if (code === 125 || code === 93) {
      closers = closers.slice(1);
      safe = { end: pos + 1, closers };
    }
    if (code === COMMA) safe = { end: pos, closers };
    // A string is a value after a colon, and anywhere in an array; else it is a name.
    if (code === 58) isValue = true;
    else if (code === COMMA || code === 123 || code === 91) isValue = closers.startsWith(']');
    pos += 1;
  }
  return closeAt(text, safe);
}

function closeAt(text: string, place: Place | null): string | null {
  return place === null ? null : text.slice(0, place.end) + place.closers;
}

/** The index behind the closing quote, or -1. */
function endOfString(text: string, open: number): number {
  for (let pos = open + 1; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === QUOTE) return pos + 1;
    if (code === BACKSLASH) pos += 1;
  }
  return -1;
}

/** Half an escape at its end is left out. */
function closeString(text: string, open: number): string {
  const inside = text.slice(open).replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, '$1');
  return `${text.slice(0, open)}${inside}"`;
}
