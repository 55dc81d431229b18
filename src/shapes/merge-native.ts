/**
 * Joins what a stream reported so far with what it reports now. Streams report running totals, so nothing is ever
 * added: field by field the latest value that is not null wins, and a zero never erases a larger earlier value
 * (some hosts send `input_tokens: 0` at the end of a stream that began with the true count).
 */
import type { JsonObject, JsonValue } from '../token-usage.ts';
import { isObject } from './json-reading.ts';

/** No provider nests its usage deeper; what lies beneath is dropped, so that nobody who walks it later can fall in. */
const MAX_DEPTH = 12;
/** Of one object, over all reports of a stream: each report is joined with them, and each checkpoint writes them down. */
const MAX_MEMBERS = 256;

/** May give back `latest` itself. */
export function mergeNative(earlier: JsonObject | null, latest: JsonObject): JsonObject {
  // The common case, an answer that reports once: nothing to join, nothing to copy.
  if (earlier === null && isShallow(latest, 0)) return latest;
  return mergeObjects(earlier ?? {}, latest, 0);
}

function isShallow(value: JsonValue, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  for (const member of Array.isArray(value) ? value : Object.values(value))
    if (!isShallow(member, depth + 1)) return false;
  return true;
}

function mergeObjects(earlier: JsonObject, latest: JsonObject, depth: number): JsonObject {
  const merged = new Map(Object.entries(earlier).slice(0, MAX_MEMBERS));
  for (const [name, value] of Object.entries(latest)) {
    if (merged.size >= MAX_MEMBERS && !merged.has(name)) continue;
    merged.set(name, mergeValues(merged.get(name), value, depth + 1));
  }
  // fromEntries defines own members, so that a member called "__proto__" stays a member.
  return Object.fromEntries(merged);
}

function mergeValues(earlier: JsonValue | undefined, latest: JsonValue, depth: number): JsonValue {
  if (latest === null || depth > MAX_DEPTH) return earlier ?? null;
  if (latest === 0 && typeof earlier === 'number') return Math.max(earlier, 0);
  if (isObject(latest)) return mergeObjects(isObject(earlier) ? earlier : {}, latest, depth);
  if (Array.isArray(latest)) {
    if (latest.length === 0 && Array.isArray(earlier)) return earlier;
    return latest.map((item) => mergeValues(undefined, item, depth + 1));
  }
  return latest;
}
