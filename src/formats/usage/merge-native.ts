/**
 * Merges a stream's usage reports. They are running totals, so nothing is added: the latest value that is not null
 * wins, and a zero never erases a larger earlier value (some hosts end with `input_tokens: 0`).
 */
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { isObject } from './read-json.ts';

/** Deeper values are dropped, which bounds later recursion. */
const MAX_DEPTH = 12;
/** A bound on one object over all reports, each of which is merged and written to checkpoints. */
const MAX_MEMBERS = 256;

/** May return `latest` itself. */
export function mergeNative(earlier: JsonObject | null, latest: JsonObject): JsonObject {
  // Most answers report once: nothing is merged or copied.
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
  // fromEntries defines own members, also "__proto__".
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
