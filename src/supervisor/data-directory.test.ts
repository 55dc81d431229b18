import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { readOwnIdentity, readRealm } from './process-identity.ts';

let path = '';
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'tg-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

function open(): Promise<DataDirectory> {
  return openDataDirectory({ path, onWait: () => {}, onLost: () => {} });
}

const ALIVE = { host: hostname(), ...readRealm(), ...readOwnIdentity(), nonce: 'other', heartbeatMs: 0 };

function writeOwner(owner: object): void {
  writeFileSync(join(path, 'owner.json'), JSON.stringify(owner));
}

test('a fresh directory gets an owner, and loses it when it is released', async () => {
  const directory = await open();
  expect(directory.tookOver).toBe(false);
  expect(JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'))).toMatchObject({ pid: process.pid });
  directory.release();
  expect(readdirSync(path)).toEqual([]);
});

test('an owner whose process lives is refused however old its heartbeat is', async () => {
  writeOwner(ALIVE);
  await expect(open()).rejects.toThrow(
    `TOLLGATE_DATA_DIR: ${path} is in use by the gateway with pid ${process.pid}; stop that one`,
  );
});

test('an owner whose pid now is another process is dead', async () => {
  writeOwner({ ...ALIVE, startTime: '1' });
  const directory = await open();
  expect(directory.tookOver).toBe(true);
  directory.release();
});

test('an owner on another host is dead after a minute of silence', async () => {
  writeOwner({ ...ALIVE, host: 'elsewhere', heartbeatMs: Date.now() - 61_000 });
  (await open()).release();
});

test('an owner on another host that still beats is refused after waiting for it', async () => {
  const owner = { ...ALIVE, host: 'elsewhere', heartbeatMs: Date.now() };
  writeOwner(owner);
  const waits: number[] = [];
  const opening = openDataDirectory({
    path,
    onWait: (_owner, waitMs) => {
      waits.push(waitMs);
      writeOwner({ ...owner, heartbeatMs: owner.heartbeatMs + 5_000 });
    },
    onLost: () => {},
  });
  await expect(opening).rejects.toThrow(`with pid ${process.pid} on elsewhere`);
  expect(waits).toHaveLength(1);
});

test('a damaged owner file stops nobody', async () => {
  writeFileSync(join(path, 'owner.json'), '{"pid":');
  (await open()).release();
  expect(readdirSync(path)).toEqual([]);
});

test('of many starts after a crash exactly one gets the directory', async () => {
  writeOwner({ ...ALIVE, startTime: '1' });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
  const owners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(owners).toHaveLength(1);
  owners[0]?.release();
});
