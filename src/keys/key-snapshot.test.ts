import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { KeyEntry } from '../vocabulary/channel.ts';
import type { AccountLimit } from '../vocabulary/limit.ts';
import { applyKeyChange, createKeySnapshot, readKeySnapshotFile, writeKeySnapshotFile } from './key-snapshot.ts';

const dirs: string[] = [];
function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-keys-'));
  dirs.push(dir);
  return dir;
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const LIMIT: AccountLimit = {
  limitId: 1,
  accountId: 1,
  metadataKey: 'User-Id',
  metadataValue: null,
  requestsPerMinute: 60,
};

function key(digest: string, revoked = false): KeyEntry {
  return { digest, keyId: 7, accountId: 1, revoked, expiresAtMs: null, usage: null, bodies: null };
}

test('a written snapshot is read back whole, is private, and leaves no other file behind', async () => {
  const dir = tempDir();
  const path = join(dir, 'keys.json');
  const full: KeyEntry = { ...key('bb', true), expiresAtMs: 1_764_000_000_000, usage: 'observe', bodies: 'off' };
  await writeKeySnapshotFile(path, createKeySnapshot(3, [key('aa')]));
  await writeKeySnapshotFile(path, createKeySnapshot(4, [key('aa'), full], [LIMIT]));
  expect(await readKeySnapshotFile(path)).toEqual({
    version: 4,
    keys: new Map([
      ['aa', key('aa')],
      ['bb', full],
    ]),
    limits: new Map([[1, [LIMIT]]]),
  });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['keys.json']);
});

test('a missing, cut or foreign file is no snapshot', async () => {
  const path = join(tempDir(), 'keys.json');
  expect(await readKeySnapshotFile(path)).toBeNull();
  for (const text of [
    '',
    '{"version":1,"keys":[',
    '[]',
    'null',
    '{"version":1}',
    '{"version":"1","keys":[]}',
    '{"version":1,"keys":[{"digest":"aa"}]}',
  ]) {
    writeFileSync(path, text);
    expect(await readKeySnapshotFile(path)).toBeNull();
  }
});

test('a change on our version adds and revokes keys, and leaves the old snapshot as it was', () => {
  const before = createKeySnapshot(4, [key('aa')]);
  const after = applyKeyChange(before, {
    baseVersion: 4,
    version: 5,
    upserts: [key('aa', true), key('bb')],
    limits: [LIMIT],
  });
  expect(after).toEqual({
    version: 5,
    keys: new Map([
      ['aa', key('aa', true)],
      ['bb', key('bb')],
    ]),
    limits: new Map([[1, [LIMIT]]]),
  });
  expect(before.keys.get('aa')?.revoked).toBe(false);
});

test('a change on another version, or without a snapshot, asks for the file', () => {
  expect(applyKeyChange(createKeySnapshot(4, []), { baseVersion: 5, version: 6, upserts: [] })).toBe('reload');
  expect(applyKeyChange(null, { baseVersion: 0, version: 1, upserts: [] })).toBe('reload');
});

test('a change that is already in the snapshot changes nothing', () => {
  const snapshot = createKeySnapshot(6, [key('aa')]);
  expect(applyKeyChange(snapshot, { baseVersion: 4, version: 5, upserts: [key('aa', true)] })).toBe(snapshot);
});
