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
/** Of a large array, the elements are counted: pictures are billed by the piece. No answer has more. */
const MAX_COUNTED = 10_000;
const MAX_ELEMENT_BYTES = 1024;
const COMMA = 44;
const CLOSING_BRACKET = 93;

export interface WholeJson {
  /** Undefined when nothing could be read. */
  readonly body: JsonValue | undefined;
  readonly complete: boolean;
}

/** `countsElements`: a large array keeps the number of its elements, at the cost of another look at its bytes. */
export function readWholeJson(bytes: Buffer, countsElements: boolean): WholeJson {
  const isBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const json = isBom ? bytes.subarray(3) : bytes;
  if (json.length <= MAX_PARSED_BYTES) {
    const body = parseJson(json);
    if (body !== undefined) return { body, complete: true };
  }
  const scan = scanTopLevel(json, null);
  if (scan.openBrace === -1) return { body: undefined, complete: isLargeValue(json) };
  const members: [string, JsonValue][] = [];
  for (const [name, { valueStart, valueEnd }] of scan.members) {
    if (valueEnd === null) continue;
    const isLarge = valueEnd - valueStart > MAX_MEMBER_BYTES;
    const value = isLarge
      ? stub(json.subarray(valueStart, valueEnd), countsElements)
      : parseJson(json.subarray(valueStart, valueEnd));
    if (value !== undefined) members.push([name, value]);
  }
  return { body: Object.fromEntries(members), complete: scan.state === 'complete' && json.length > MAX_PARSED_BYTES };
}

/** A list or a text that is too large to be parsed: nothing in it is read, but where it ends. */
function isLargeValue(json: Buffer): boolean {
  if (json.length <= MAX_PARSED_BYTES) return false;
  const end = endOfValue(json, skipSpace(json, 0));
  return end !== -1 && skipSpace(json, end) === json.length;
}

/** Stands for a large value: of the same kind and, but for the number of an array's elements, empty. */
function stub(value: Buffer, countsElements: boolean): JsonValue {
  if (value[0] === 91) return countsElements ? listElements(value) : [];
  return value[0] === 123 ? {} : '';
}

function listElements(value: Buffer): readonly JsonValue[] {
  const elements: JsonValue[] = [];
  let pos = skipSpace(value, 1);
  while (elements.length < MAX_COUNTED && value[pos] !== CLOSING_BRACKET) {
    const end = endOfValue(value, pos);
    if (end === -1) break;
    elements.push(readElement(value.subarray(pos, end)));
    pos = skipSpace(value, end);
    if (value[pos] === COMMA) pos = skipSpace(value, pos + 1);
  }
  return elements;
}

/** A small element is worth a look: what is said of a picture that was not made. */
function readElement(element: Buffer): JsonValue {
  const small = element.length <= MAX_ELEMENT_BYTES ? parseJson(element) : undefined;
  return small ?? stub(element, false);
}
