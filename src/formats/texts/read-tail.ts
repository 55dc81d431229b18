/** The objects in the end of a JSON body whose middle was not kept, from the first that looks like a message on. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject } from '../usage/read-json.ts';

const QUOTE = 34;
const BACKSLASH = 92;

export function readTail(text: string): readonly JsonObject[] {
  // A quote inside a text has a backslash before it, so this is none of its contents.
  const start = /\{\s*"(?:role|type|content|parts|candidates)"\s*:/g;
  const found: JsonObject[] = [];
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const end = endOfObject(text, match.index);
    if (end === -1) return found;
    const value = parse(text.slice(match.index, end));
    if (value !== null) found.push(value);
    start.lastIndex = end;
  }
  return found;
}

function parse(text: string): JsonObject | null {
  try {
    const value: JsonValue = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The index after the closing brace, or -1. */
function endOfObject(text: string, open: number): number {
  let depth = 0;
  let isInText = false;
  for (let pos = open; pos < text.length; pos += 1) {
    const code = text.charCodeAt(pos);
    if (isInText) {
      if (code === BACKSLASH) pos += 1;
      else if (code === QUOTE) isInText = false;
    } else if (code === QUOTE) isInText = true;
    else if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) {
      depth -= 1;
      if (depth === 0) return pos + 1;
    }
  }
  return -1;
}
