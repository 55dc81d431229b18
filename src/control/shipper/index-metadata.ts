/** A call's metadata under the keys that are promoted or being promoted, as the function `metadata_value()` says it. Pure. */
import type { LlmRequestRow } from '../store/log-columns.ts';

/** By account: a key in lower case and its spelling in `metadata_keys`. */
export type IndexedKeys = ReadonlyMap<number, ReadonlyMap<string, string>>;

/** Rows of account, key in lower case, display spelling. */
export function readIndexedKeys(rows: readonly (readonly [number, string, string])[]): IndexedKeys {
  const keys = new Map<number, Map<string, string>>();
  for (const [accountId, lower, display] of rows) {
    const own = keys.get(accountId) ?? new Map<string, string>();
    keys.set(accountId, own.set(lower, display));
  }
  return keys;
}

/** Values of several spellings are joined in the order of these. */
export function indexMetadata(row: LlmRequestRow, keys: IndexedKeys): Record<string, string> {
  const own = keys.get(row.account_id);
  if (own === undefined) return {};
  const found: [display: string, spelling: string, value: string][] = [];
  for (const [spelling, value] of Object.entries(row.raw_metadata)) {
    const display = own.get(lowerInAscii(spelling));
    if (display !== undefined) found.push([display, spelling, String(value)]);
  }
  if (found.length > 1) found.sort(([, a], [, b]) => (a < b ? -1 : 1));
  const indexed = new Map<string, string>();
  for (const [display, , value] of found) {
    const before = indexed.get(display);
    indexed.set(display, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(indexed);
}

function lowerInAscii(key: string): string {
  return key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}
