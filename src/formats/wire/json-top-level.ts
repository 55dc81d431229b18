/** Scans a JSON object's top level without parsing or copying nested values. */
import { endOfString, endOfValue, skipSpace } from './json-scan.ts';

/** A longer string has no `scalar`: models and tiers are short. */
const MAX_SCALAR_BYTES = 64 * 1024;

export interface TopLevelMember {
  readonly keyStart: number;
  readonly valueStart: number;
  /** The index after the value; null when the input ends inside it. */
  readonly valueEnd: number | null;
  /** Undefined for objects, arrays and cut values. */
  readonly scalar: string | number | boolean | null | undefined;
}

export interface TopLevelScan {
  /** The index of `{`; -1 when the input is not an object. */
  readonly openBrace: number;
  /** `complete`: closed and only white space follows. `invalid`: not an object, or broken on the top level. */
  readonly state: 'complete' | 'truncated' | 'invalid';
  /** The last member of each wanted name, as JSON parsers read it. */
  readonly members: ReadonlyMap<string, TopLevelMember>;
  readonly duplicates: readonly string[];
  /** All members, wanted or not. */
  readonly memberCount: number;
}

/** `wanted` null means every member. Never throws. */
export function scanTopLevel(json: Buffer, wanted: readonly string[] | null): TopLevelScan {
  const members = new Map<string, TopLevelMember>();
  const duplicates: string[] = [];
  const openBrace = skipSpace(json, 0);
  let memberCount = 0;

  function result(state: TopLevelScan['state']): TopLevelScan {
    return { openBrace: json[openBrace] === 123 ? openBrace : -1, state, members, duplicates, memberCount };
  }
  function brokenAt(pos: number): TopLevelScan {
    return result(pos >= json.length ? 'truncated' : 'invalid');
  }

  if (json[openBrace] !== 123) return brokenAt(openBrace);
  let pos = skipSpace(json, openBrace + 1);
  if (json[pos] === 125) return result(skipSpace(json, pos + 1) === json.length ? 'complete' : 'invalid');
  for (;;) {
    if (json[pos] !== 34) return brokenAt(pos);
    const keyStart = pos;
    const keyEnd = endOfString(json, pos);
    if (keyEnd === -1) return result('truncated');
    pos = skipSpace(json, keyEnd);
    if (json[pos] !== 58) return brokenAt(pos);
    const valueStart = skipSpace(json, pos + 1);
    if (valueStart >= json.length) return result('truncated');
    const valueEnd = endOfValue(json, valueStart);
    memberCount += 1;
    const name = readName(json, keyStart, keyEnd, wanted);
    if (name !== null) {
      if (members.has(name)) duplicates.push(name);
      members.set(name, {
        keyStart,
        valueStart,
        valueEnd: valueEnd === -1 ? null : valueEnd,
        scalar: readScalar(json, valueStart, valueEnd),
      });
    }
    if (valueEnd === -1) return result(isValueStart(json[valueStart]) ? 'truncated' : 'invalid');
    pos = skipSpace(json, valueEnd);
    if (json[pos] === 125) return result(skipSpace(json, pos + 1) === json.length ? 'complete' : 'invalid');
    if (json[pos] !== 44) return brokenAt(pos);
    pos = skipSpace(json, pos + 1);
  }
}

function isValueStart(byte: number | undefined): boolean {
  return byte !== undefined && byte !== 44 && byte !== 58 && byte !== 93 && byte !== 125;
}

/** Null when not wanted. Escapes are decoded first: `"\u0073tream"` is `stream`. */
function readName(json: Buffer, start: number, end: number, wanted: readonly string[] | null): string | null {
  const escaped = hasEscape(json, start + 1, end - 1);
  if (wanted !== null && !escaped) {
    // Hot path of streams: compares bytes without making a string. Wanted names are ASCII.
    for (const name of wanted) if (isNamed(json, start + 1, end - 1, name)) return name;
    return null;
  }
  if (end - start > MAX_SCALAR_BYTES) return null;
  const name = escaped ? parseScalar(json.toString('utf8', start, end)) : json.toString('utf8', start + 1, end - 1);
  if (typeof name !== 'string') return null;
  return wanted === null || wanted.includes(name) ? name : null;
}

function isNamed(json: Buffer, from: number, to: number, name: string): boolean {
  if (to - from !== name.length) return false;
  for (let at = 0; at < name.length; at += 1) if (json[from + at] !== name.charCodeAt(at)) return false;
  return true;
}

function hasEscape(json: Buffer, from: number, to: number): boolean {
  for (let pos = from; pos < to; pos += 1) if (json[pos] === 92) return true;
  return false;
}

function readScalar(json: Buffer, start: number, end: number): TopLevelMember['scalar'] {
  const first = json[start];
  if (end === -1 || first === 123 || first === 91 || end - start > MAX_SCALAR_BYTES) return undefined;
  if (first === 110 && isNamed(json, start, end, 'null')) return null;
  if (first === 116 && isNamed(json, start, end, 'true')) return true;
  if (first === 102 && isNamed(json, start, end, 'false')) return false;
  return parseScalar(json.toString('utf8', start, end));
}

function parseScalar(text: string): TopLevelMember['scalar'] {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
      return value;
    }
  } catch {
    // Invalid JSON is no scalar.
  }
  return undefined;
}
