/** Reads a JSON answer, or what was kept of a large one; from a cut one, the complete top-level members. */
import type { JsonValue } from '../../vocabulary/token-usage.ts';
import { scanTopLevel } from '../wire/json-top-level.ts';
import { parseJson } from './read-json.ts';

export interface WholeJson {
  readonly body: JsonValue | undefined;
  readonly complete: boolean;
}

export function readWholeJson(bytes: Buffer): WholeJson {
  const isBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const json = isBom ? bytes.subarray(3) : bytes;
  const body = parseJson(json);
  if (body !== undefined) return { body, complete: true };
  const { openBrace, members } = scanTopLevel(json, null);
  if (openBrace === -1) return { body: undefined, complete: false };
  const read: [string, JsonValue][] = [];
  for (const [name, { valueStart, valueEnd }] of members) {
    const value = valueEnd === null ? undefined : parseJson(json.subarray(valueStart, valueEnd));
    if (value !== undefined) read.push([name, value]);
  }
  return { body: Object.fromEntries(read), complete: false };
}
