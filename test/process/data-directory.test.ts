import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import {
  type DataDirectory,
  type DataDirectoryOptions,
  openDataDirectory,
} from '../../src/supervisor/data-directory.ts';
import { readOwnIdentity, readRealm } from '../../src/supervisor/process-identity.ts';
import { listSmallDisks } from '../support/small-disk.ts';

let path = '';
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'tg-'));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

function open(options: Partial<DataDirectoryOptions> = {}): Promise<DataDirectory> {
  return openDataDirectory({ path, onWait: () => {}, onLost: () => {}, ...options });
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
  expect(readdirSync(path)).toEqual(['gateway.pipe']);
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

test('an owner on another host is dead after its silence, and not before it was watched, whatever the clocks say', async () => {
  for (const [heartbeatMs, expected] of [
    [Date.now() - 3_600_000, 100],
    [Date.now() + 3_600_000, 300],
  ] as const) {
    writeOwner({ ...ALIVE, host: 'elsewhere', heartbeatMs });
    const waits: number[] = [];
    const onWait = (_owner: object, waitMs: number) => void waits.push(waitMs);
    (await open({ onWait, heartbeatMs: 40, silenceMs: 300 })).release();
    expect(waits).toEqual([expected]);
  }
});

test('an owner with a clock that is an hour behind is refused while it beats', async () => {
  const owner = { ...ALIVE, host: 'elsewhere', heartbeatMs: Date.now() - 3_600_000 };
  writeOwner(owner);
  const onWait = () => writeOwner({ ...owner, heartbeatMs: owner.heartbeatMs + 40 });
  await expect(open({ onWait, heartbeatMs: 40, silenceMs: 300 })).rejects.toThrow('on elsewhere');
});

test('an owner on this machine that held a lifeline is dead as soon as nobody holds it', async () => {
  (await open()).release();
  const { dev, ino } = statSync(join(path, 'gateway.pipe'));
  writeOwner({ ...ALIVE, pidNamespace: 'pid:[1]', lifeline: `${dev}:${ino}`, heartbeatMs: Date.now() });
  const waits: number[] = [];
  const directory = await open({ onWait: (_owner, waitMs) => void waits.push(waitMs) });
  expect([directory.tookOver, waits]).toEqual([true, []]);
  directory.release();
});

test('whoever finds another in the file has lost the directory, and leaves the other alone', async () => {
  const lost = Promise.withResolvers<void>();
  const directory = await open({ onLost: lost.resolve, heartbeatMs: 20 });
  expect(directory.isOurs()).toBe(true);
  rmSync(join(path, 'owner.json'));
  writeOwner(ALIVE);
  expect(directory.isOurs()).toBe(false);
  await lost.promise;
  directory.release();
  expect(JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8'))).toEqual(ALIVE);
});

test('an owner file that was removed or damaged is made again', async () => {
  const directory = await open({ heartbeatMs: 20 });
  for (const harm of [() => rmSync(join(path, 'owner.json')), () => writeFileSync(join(path, 'owner.json'), '{')]) {
    harm();
    await vi.waitFor(() => JSON.parse(readFileSync(join(path, 'owner.json'), 'utf8')));
  }
  directory.release();
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
  await expect(opening).rejects.toThrow(`on elsewhere (pid ${process.pid} there)`);
  expect(waits).toHaveLength(1);
});

test.each(listSmallDisks().filter(({ means }) => means === 'a full tmpfs'))(
  'a start on a full disk is refused, and leaves nothing behind',
  async ({ open: openDisk }) => {
    const disk = openDisk();
    try {
      disk.fill();
      await expect(open({ path: disk.dir })).rejects.toThrow(`cannot use ${disk.dir}: the disk is full`);
      expect(readdirSync(disk.dir)).toEqual(['filler']);
    } finally {
      disk.remove();
    }
  },
);

test('a damaged owner file stops nobody', async () => {
  writeFileSync(join(path, 'owner.json'), '{"pid":');
  (await open()).release();
  expect(readdirSync(path)).toEqual(['gateway.pipe']);
});

test('of many starts after a crash exactly one gets the directory', async () => {
  writeOwner({ ...ALIVE, startTime: '1' });
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
  const owners = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  expect(owners).toHaveLength(1);
  owners[0]?.release();
});
