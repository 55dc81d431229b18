/**
 * The numbered snapshot of all keys that every proxy holds in memory, and its file, by which a proxy starts without a
 * database. Digests only. The control process writes the file before it publishes a change, so one who missed a
 * change finds it there.
 */
import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { KeyChange, KeyEntry } from '../channel.ts';

export interface KeySnapshot {
  readonly version: number;
  /** By digest. */
  readonly keys: ReadonlyMap<string, KeyEntry>;
}

export function createKeySnapshot(version: number, entries: readonly KeyEntry[]): KeySnapshot {
  return { version, keys: new Map(entries.map((entry) => [entry.digest, entry])) };
}

function isNumberOrNull(value: unknown): boolean {
  return value === null || typeof value === 'number';
}

function isKeyEntry(value: unknown): value is KeyEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { digest, keyId, accountId, revoked, expiresAtMs, usage, bodies }: Record<string, unknown> = { ...value };
  return (
    typeof digest === 'string' &&
    Number.isSafeInteger(keyId) &&
    Number.isSafeInteger(accountId) &&
    typeof revoked === 'boolean' &&
    isNumberOrNull(expiresAtMs) &&
    (usage === null || usage === 'ask' || usage === 'observe') &&
    (bodies === null || bodies === 'full' || bodies === 'off')
  );
}

/** Null unless the text is a whole snapshot: half a list of keys would refuse good ones. */
export function parseKeySnapshot(text: string): KeySnapshot | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { version, keys }: Record<string, unknown> = { ...value };
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || !Array.isArray(keys)) return null;
  const entries: unknown[] = keys;
  return entries.every(isKeyEntry) ? createKeySnapshot(version, entries) : null;
}

/** Null when the file is missing or not a whole snapshot. */
export async function readKeySnapshotFile(path: string): Promise<KeySnapshot | null> {
  try {
    return parseKeySnapshot(await readFile(path, 'utf8'));
  } catch {
    return null;
  }
}

/** Replaces the file as a whole, durably: a reader sees the old or the new one, also after a power cut. Mode 0600. */
export async function writeKeySnapshotFile(path: string, snapshot: KeySnapshot): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', 0o600);
    try {
      await file.writeFile(JSON.stringify({ version: snapshot.version, keys: [...snapshot.keys.values()] }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * The snapshot after a change; the same one when it has the change already; `reload` when the change starts from a
 * version that is not ours, and the file must be read instead.
 */
export function applyKeyChange(snapshot: KeySnapshot | null, change: KeyChange): KeySnapshot | 'reload' {
  if (snapshot === null) return 'reload';
  if (change.version <= snapshot.version) return snapshot;
  if (change.baseVersion !== snapshot.version) return 'reload';
  const keys = new Map(snapshot.keys);
  for (const entry of change.upserts) keys.set(entry.digest, entry);
  return { version: change.version, keys };
}
