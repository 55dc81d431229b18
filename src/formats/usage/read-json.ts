/** Reads provider JSON; anything missing or mistyped is null. */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';

/** Longer names are cut. */
export const MAX_NAME_CHARS = 512;

/** Returns undefined when the bytes are not JSON. */
export function parseJson(bytes: Buffer): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(bytes.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readObject(value: JsonValue | undefined, name: string): JsonObject | null {
  const member = isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : null;
}

export function readArray(value: JsonValue | undefined, name: string): readonly JsonValue[] {
  const member = isObject(value) ? value[name] : undefined;
  return Array.isArray(member) ? member : [];
}

/** Null when missing, empty or not text. */
export function readName(value: JsonValue | undefined, name: string): string | null {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === 'string' && member !== '' ? member.slice(0, MAX_NAME_CHARS) : null;
}

/** A reported number, or null. `Draft.set` repairs one that is not a whole number ≥ 0. */
export function readCount(value: JsonValue | undefined, name: string): number | null {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === 'number' && Number.isFinite(member) ? member : null;
}
