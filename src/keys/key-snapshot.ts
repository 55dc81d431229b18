/** The numbered snapshot of all keys and run tokens, digests only, and its file, which is written before a change is published. */
import { readFile } from 'node:fs/promises';
import type { KeyChange, KeyEntry } from '../vocabulary/channel.ts';
import type { AccountLimit } from '../vocabulary/limit.ts';
import { replaceFile } from './replace-file.ts';

export interface KeySnapshot {
  readonly version: number;
  readonly keys: ReadonlyMap<string, KeyEntry>;
  /** By account; absent for accounts without any. */
  readonly limits: ReadonlyMap<number, readonly AccountLimit[]>;
}

export function createKeySnapshot(
  version: number,
  entries: readonly KeyEntry[],
  limits: readonly AccountLimit[] = [],
): KeySnapshot {
  const keys = new Map(entries.map((entry) => [entry.digest, entry]));
  return { version, keys, limits: Map.groupBy(limits, ({ accountId }) => accountId) };
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function isPair(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

function isRunContext(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { traceId, spanPath, provider, providerAlias, metadata }: Record<string, unknown> = { ...value };
  return (
    [traceId, spanPath, provider, providerAlias].every(isTextOrNull) &&
    Array.isArray(metadata) &&
    metadata.every(isPair)
  );
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** An allowance that is not understood must not become "everything". */
function isAllowance(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['providers', 'models', 'aliases', 'endpoints', 'networks'].every((name) => {
    const list: unknown = Reflect.get(value, name);
    return list === undefined || isTexts(list);
  });
}

function isLimit(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return ['concurrent', 'requestsPerMinute', 'tokensPerMinute'].every((name) => {
    const most: unknown = Reflect.get(value, name);
    return most === undefined || Number.isSafeInteger(most);
  });
}

function isAccountLimit(value: unknown): value is AccountLimit {
  if (typeof value !== 'object' || value === null || !isLimit(value)) return false;
  const { limitId, accountId, metadataKey, metadataValue }: Record<string, unknown> = { ...value };
  return [limitId, accountId].every(Number.isSafeInteger) && [metadataKey, metadataValue].every(isTextOrNull);
}

function isKeyEntry(value: unknown): value is KeyEntry {
  if (typeof value !== 'object' || value === null) return false;
  const entry: Record<string, unknown> = { ...value };
  const { digest, keyId, accountId, revoked, expiresAtMs, usage, bodies, allowInAddress, run, runsFrom } = entry;
  const { allow, limit, firstKeyId, allowRunBudget, owner } = entry;
  return (
    typeof digest === 'string' &&
    Number.isSafeInteger(keyId) &&
    Number.isSafeInteger(accountId) &&
    typeof revoked === 'boolean' &&
    (expiresAtMs === null || typeof expiresAtMs === 'number') &&
    (usage === null || usage === 'ask' || usage === 'observe') &&
    (bodies === null || bodies === 'full' || bodies === 'off') &&
    (allowInAddress === undefined || allowInAddress === true) &&
    (allowRunBudget === undefined || allowRunBudget === true) &&
    (owner === undefined || typeof owner === 'string') &&
    (run === undefined || isRunContext(run)) &&
    (runsFrom === undefined || isTexts(runsFrom)) &&
    (allow === undefined || isAllowance(allow)) &&
    (limit === undefined || isLimit(limit)) &&
    (firstKeyId === undefined || Number.isSafeInteger(firstKeyId))
  );
}

/** Null unless the text is a whole snapshot, since half a list would refuse good keys. */
export function parseKeySnapshot(text: string): KeySnapshot | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { version, keys, limits = [] }: Record<string, unknown> = { ...value };
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || !Array.isArray(keys)) return null;
  if (!Array.isArray(limits)) return null;
  const entries: unknown[] = keys;
  const limited: unknown[] = limits;
  return entries.every(isKeyEntry) && limited.every(isAccountLimit)
    ? createKeySnapshot(version, entries, limited)
    : null;
}

/** Null when the file is missing or incomplete. */
export async function readKeySnapshotFile(path: string): Promise<KeySnapshot | null> {
  try {
    return parseKeySnapshot(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Replaces the file atomically and durably. Mode 0600. */
export function writeKeySnapshotFile(path: string, { version, keys, limits }: KeySnapshot): Promise<void> {
  return replaceFile(path, JSON.stringify({ version, keys: [...keys.values()], limits: [...limits.values()].flat() }));
}

/** The snapshot after a change; `reload` when the change starts from another version and the file must be read. */
export function applyKeyChange(snapshot: KeySnapshot | null, change: KeyChange): KeySnapshot | 'reload' {
  if (snapshot === null) return 'reload';
  if (change.version <= snapshot.version) return snapshot;
  if (change.baseVersion !== snapshot.version) return 'reload';
  const keys = new Map(snapshot.keys);
  for (const digest of change.removed ?? []) keys.delete(digest);
  for (const entry of change.upserts) keys.set(entry.digest, entry);
  const limits =
    change.limits === undefined ? snapshot.limits : Map.groupBy(change.limits, ({ accountId }) => accountId);
  return { version: change.version, keys, limits };
}
