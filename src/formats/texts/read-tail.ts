/** The messages in the end of a JSON body whose middle was not kept, from the first that is whole on. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject, readName, readObject } from '../usage/read-json.ts';

const QUOTE = 34;
const BACKSLASH = 92;

/** Members of tools on offer, schemas and the form of answers. */
const DECLARING: readonly string[] = ['parameters', 'properties', 'input_schema', 'json_schema', 'schema'];
/** Of a schema, in JSON Schema and in Gemini's writing. */
const SCHEMA_TYPE = /^(?:string|integer|number|boolean|array|object|null)$/i;
/** A choice of a tool. */
const CHOICE_TYPE = 'tool';
/** Tools on offer where the member of that name has none of what a call has. */
const TOOL_TYPES: readonly string[] = ['function', 'custom'];

export function readTail(text: string): readonly JsonObject[] {
  // A quote inside a text has a backslash before it, so this is none of its contents.
  const start = /\{\s*"(?:role|type|content|parts|candidates)"\s*:/g;
  const found: JsonObject[] = [];
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const end = endOfObject(text, match.index);
    if (end === -1) return found;
    const value = parse(text.slice(match.index, end));
    if (value !== null && !isDeclared(value)) found.push(value);
    start.lastIndex = end;
  }
  return found;
}

/** What a request offers or asks for, which nobody said. */
function isDeclared(value: JsonObject): boolean {
  if (readName(value, 'role') !== null) return false;
  if (DECLARING.some((name) => Object.hasOwn(value, name))) return true;
  const { type } = value;
  if (Array.isArray(type)) return true;
  if (typeof type !== 'string') return false;
  if (SCHEMA_TYPE.test(type) || type === CHOICE_TYPE) return true;
  if (!TOOL_TYPES.includes(type)) return false;
  const called = readObject(value, type);
  return called === null || !(Object.hasOwn(called, 'arguments') || Object.hasOwn(called, 'input'));
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
