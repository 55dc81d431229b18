/**
 * Reads a JSON answer that is gathered whole. A small one is parsed; of a large or cut one only the members that are
 * small themselves, so that a body full of vectors or images does not hold up the process.
 */
import type { JsonValue } from '../token-usage.ts';
import { endOfValue, skipSpace } from '../wire/json-scan.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import { parseJson } from './json-reading.ts';

/** Parsing this much takes a few milliseconds. */
const MAX_PARSED_BYTES = 1024 * 1024;
/** In a larger body, a member of more than this is not looked into. */
const MAX_MEMBER_BYTES = 256 * 1024;
/** No answer has more pictures; a list of anything else needs no count. */
const MAX_COUNTED_ELEMENTS = 64;
const MAX_ELEMENT_BYTES = 1024;
const COMMA = 44;
const CLOSING_BRACKET = 93;

export interface WholeJson {
  /** Undefined when nothing could be read. */
  readonly body: JsonValue | undefined;
  readonly complete: boolean;
}

export function readWholeJson(bytes: Buffer): WholeJson {
  const isBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const json = isBom ? bytes.subarray(3) : bytes;
  if (json.length <= MAX_PARSED_BYTES) {
    const body = parseJson(json);
    if (body !== undefined) return { body, complete: true };
  }
  const scan = scanTopLevel(json, null);
  if (scan.openBrace === -1) return { body: undefined, complete: false };
  const members: [string, JsonValue][] = [];
  for (const [name, { valueStart, valueEnd }] of scan.members) {
    if (valueEnd === null) continue;
    const isLarge = valueEnd - valueStart > MAX_MEMBER_BYTES;
    const value = isLarge ? stub(json.subarray(valueStart, valueEnd)) : parseJson(json.subarray(valueStart, valueEnd));
    if (value !== undefined) members.push([name, value]);
  }
  return { body: Object.fromEntries(members), complete: scan.state === 'complete' && json.length > MAX_PARSED_BYTES };
}

/** Stands for a large value: of the same kind, and empty. A list keeps its length: pictures are counted by it. */
function stub(value: Buffer): JsonValue {
  if (value[0] === 91) return listElements(value);
  return value[0] === 123 ? {} : '';
}

/** A small element is worth a look: why a picture was not made. */
function listElements(list: Buffer): readonly JsonValue[] {
  const elements: JsonValue[] = [];
  let pos = skipSpace(list, 1);
  while (elements.length < MAX_COUNTED_ELEMENTS && list[pos] !== CLOSING_BRACKET) {
    const end = endOfValue(list, pos);
    if (end === -1) break;
    elements.push(end - pos <= MAX_ELEMENT_BYTES ? (parseJson(list.subarray(pos, end)) ?? null) : null);
    pos = skipSpace(list, end);
    if (list[pos] === COMMA) pos = skipSpace(list, pos + 1);
  }
  return elements;
}
