/** Parses JSON that is cut short by closing what is open; it repairs nothing else. */
import type { JsonValue } from '../../vocabulary/token-usage.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const COMMA = 44;

const MAX_DEPTH = 200;

/** Undefined when the text does not begin as JSON. */
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

/** A position after which everything open can be closed: after a value, before a comma, after an opening bracket. */
interface Place {
  readonly end: number;
  readonly closers: string;
}

function closeJson(text: string): string | null {
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
    // A string is a value after a colon or in an array, otherwise a name.
    if (code === 58) isValue = true;
    else if (code === COMMA || code === 123 || code === 91) isValue = closers.startsWith(']');
    pos += 1;
  }
  return closeAt(text, safe);
}

function closeAt(text: string, place: Place | null): string | null {
  return place === null ? null : text.slice(0, place.end) + place.closers;
}

/** The index after the closing quote, or -1. */
function endOfString(text: string, open: number): number {
  for (let pos = open + 1; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (code === QUOTE) return pos + 1;
    if (code === BACKSLASH) pos += 1;
  }
  return -1;
}

/** Drops half an escape at the end. */
function closeString(text: string, open: number): string {
  const inside = text.slice(open).replace(/(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/, '$1');
  return `${text.slice(0, open)}${inside}"`;
}
