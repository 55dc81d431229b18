/** Processes that start on a full disk: they take a directory that was laid out while there was room. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { settleEnded } from '../../src/control/ledger/balance-process.ts';
import { CallTally } from '../../src/spool/call-tally.ts';
import { measureDisk } from '../../src/spool/disk-space.ts';
import { readLosses } from '../../src/spool/losses-file.ts';
import { prepareDirectory, takePrepared } from '../../src/spool/prepared-directory.ts';
import { listProcessDirectories, removeProcessDirectory } from '../../src/spool/process-directories.ts';
import { NODE_FILES } from '../../src/spool/spool-files.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callEnd } from '../support/call-fixtures.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readSpool } from '../support/read-spool.ts';
import { listSmallDisks, type SmallDisk } from '../support/small-disk.ts';

const CALLS = 40;
const EMERGENCY_BYTES = 80 * 1024;
const ALL = Array.from({ length: 16 }, (_, index) => String(index + 1).padStart(2, '0'));

async function layOutAll(preparedDir: string): Promise<void> {
  while (await prepareDirectory(preparedDir, EMERGENCY_BYTES));
}

function end(spool: SpoolWriter, number: number): Promise<boolean> {
  return new Promise((resolve) => spool.end(callBegin(number, { ordinal: number }), callEnd(number), [], resolve));
}

describe.each(listSmallDisks())('$means', ({ open }) => {
  let disk: SmallDisk;
  const stops: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    disk.remove();
  });

  const preparedDir = () => join(disk.dir, 'standby');
  const dirOf = (name: string) => join(disk.dir, 'spool', name);

  function openWriter(name: string): SpoolWriter {
    const sizes = { maxBytes: 1e9, emergencyBytes: EMERGENCY_BYTES, spaceIntervalMs: 20 };
    const spool = openSpoolWriter({
      dir: dirOf(name),
      preparedDir: preparedDir(),
      durability: 'process' as const,
      files: disk.files,
      log: quietLog(),
      ...sizes,
    });
    stops.push(() => spool.close());
    return spool;
  }

  async function openFullDisk(): Promise<void> {
    disk = open();
    mkdirSync(join(disk.dir, 'spool'));
    await layOutAll(preparedDir());
    disk.fill();
  }

  test('four processes that start one after the other on a full disk keep all their endings', async () => {
    await openFullDisk();
    for (const name of ['p1', 'p2', 'p3', 'p4']) {
      const spool = openWriter(name);
      expect(spool.stats().hasEmergencySegment).toBe(true);
      const numbers = Array.from({ length: CALLS }, (_, index) => index + 1);
      for (const number of numbers) expect([number, await end(spool, number)]).toEqual([number, true]);
      // As one that was killed: nothing is closed.
      const { ids, corruptBytes } = await readSpool(dirOf(name), true);
      expect([ids, corruptBytes]).toEqual([numbers.map((number) => callBegin(number).id), 0]);
      expect(await readLosses(dirOf(name))).toEqual({ calls: 0, entries: [] });
      expect(spool.stats()).toMatchObject({ endsSpooled: CALLS, recordsLost: 0 });
    }
  });

  test('the next twelve count what they lose on the disk, also when they are killed; one after them does when there is room', async () => {
    await openFullDisk();
    for (const name of ALL.slice(0, 15)) openWriter(name);
    const killed = openWriter('p16');
    expect(killed.stats().hasEmergencySegment).toBe(false);
    for (const number of [1, 2, 3]) expect(await end(killed, number)).toBe(false);
    await expect.poll(async () => (await readLosses(dirOf('p16'))).calls).toBe(3);
    const account = settleEnded(CallTally.empty(), await readLosses(dirOf('p16')), 0);
    expect(account).toEqual({ accepted: 3, stored: 0, setAside: 0, lost: 3, missing: 0 });
    expect(readdirSync(preparedDir())).toEqual([]);

    const last = openWriter('p17');
    expect(await end(last, 1)).toBe(false);
    disk.empty();
    await expect.poll(async () => (await readLosses(dirOf('p17'))).calls).toBe(1);
    expect(await end(last, 2)).toBe(true);
    await expect.poll(() => last.stats().hasEmergencySegment).toBe(true);
  });

  test('one that ends before its first record leaves a directory that holds no call', async () => {
    await openFullDisk();
    expect(takePrepared(preparedDir(), dirOf('p1'), disk.files, quietLog())).toBe(true);
    expect(await listProcessDirectories(join(disk.dir, 'spool'))).toEqual(['p1']);
    expect(await readSpool(dirOf('p1'), true)).toMatchObject({ entries: [], corruptBytes: 0 });
    expect(settleEnded(CallTally.empty(), await readLosses(dirOf('p1')), 0)).toMatchObject({ accepted: 0, lost: 0 });
    await removeProcessDirectory(dirOf('p1'));
    expect(readdirSync(join(disk.dir, 'spool'))).toEqual([]);
  });

  test('what is laid out is nobody else’s to read, and counts neither as a process nor against the limit of the spool', async () => {
    await openFullDisk();
    expect(readdirSync(preparedDir()).sort()).toEqual(ALL);
    const names = ALL.map((name) => readdirSync(join(preparedDir(), name)).join());
    expect(names).toEqual([
      ...Array.from({ length: 4 }, () => 'losses.bin,reserve.bin'),
      ...Array.from({ length: 12 }, () => 'losses.bin'),
    ]);
    for (const name of readdirSync(preparedDir(), { recursive: true, encoding: 'utf8' }))
      expect([name, statSync(join(preparedDir(), name)).mode & 0o077]).toEqual([name, 0]);
    expect(await listProcessDirectories(join(disk.dir, 'spool'))).toEqual([]);
    openWriter('p1');
    expect((await measureDisk(join(disk.dir, 'spool'))).bytes).toBe(0);
  });
});

describe('laying out', () => {
  let root: string;
  afterEach(() => rmSync(root, { recursive: true }));

  function openRoot(): string {
    root = mkdtempSync(join(tmpdir(), 'standby-'));
    mkdirSync(join(root, 'spool'));
    return join(root, 'standby');
  }

  const take = (name: string) => takePrepared(join(root, 'standby'), join(root, 'spool', name), NODE_FILES, quietLog());

  test('each is taken once, though another process takes it between the look and the grasp', async () => {
    const preparedDir = openRoot();
    await prepareDirectory(preparedDir, EMERGENCY_BYTES);
    await prepareDirectory(preparedDir, EMERGENCY_BYTES);
    expect(take('p1')).toBe(true);
    const listNames = (dir: string) => (dir === preparedDir ? ['01', '02'] : NODE_FILES.listNames(dir));
    const late = { ...NODE_FILES, listNames };
    const takeLate = (name: string) => takePrepared(preparedDir, join(root, 'spool', name), late, quietLog());
    expect(takeLate('p2')).toBe(true);
    expect(takeLate('p3')).toBe(false);
    expect(readdirSync(join(root, 'spool')).sort()).toEqual(['p1', 'p2']);
  });

  test('what somebody else has put there is not taken: a file, or a link; the next one is', async () => {
    const preparedDir = openRoot();
    for (const _ of ['01', '02', '03']) await prepareDirectory(preparedDir, EMERGENCY_BYTES);
    rmSync(join(preparedDir, '01'), { recursive: true });
    writeFileSync(join(preparedDir, '01'), '');
    renameSync(join(preparedDir, '02'), join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(preparedDir, '02'));
    expect(take('p1')).toBe(true);
    expect(readdirSync(preparedDir)).toEqual(['01', '02']);
    expect(readdirSync(join(root, 'spool', 'p1')).sort()).toEqual(['losses.bin', 'reserve.bin']);
    expect(take('p2')).toBe(false);
    expect(readdirSync(join(root, 'spool'))).toEqual(['p1']);
  });

  test('a directory that was being laid out at a kill is not taken, and made anew', async () => {
    const preparedDir = openRoot();
    mkdirSync(join(preparedDir, '01.tmp'), { recursive: true });
    writeFileSync(join(preparedDir, '01.tmp', 'losses.bin'), 'half');
    expect(take('p1')).toBe(false);
    expect(await prepareDirectory(preparedDir, EMERGENCY_BYTES)).toBe(true);
    expect(readdirSync(preparedDir)).toEqual(['01']);
    expect(statSync(join(preparedDir, '01', 'losses.bin')).size).toBe(64 * 1024);
    expect(statSync(join(preparedDir, '01', 'reserve.bin')).size).toBe(EMERGENCY_BYTES);
  });

  test('an emergency segment that has only its length is not trusted: another one is made', async () => {
    const preparedDir = openRoot();
    await prepareDirectory(preparedDir, EMERGENCY_BYTES);
    writeFileSync(join(preparedDir, '01', 'reserve.bin'), '');
    truncateSync(join(preparedDir, '01', 'reserve.bin'), EMERGENCY_BYTES);
    const dir = join(root, 'spool', 'p1');
    const options = {
      dir,
      preparedDir,
      durability: 'process' as const,
      emergencyBytes: EMERGENCY_BYTES,
      spaceIntervalMs: 20,
    };
    const spool = openSpoolWriter({ ...options, log: quietLog() });
    expect(spool.stats().hasEmergencySegment).toBe(false);
    await expect.poll(() => spool.stats().hasEmergencySegment).toBe(true);
    expect(statSync(join(dir, 'reserve.bin')).blocks * 512).toBeGreaterThanOrEqual(EMERGENCY_BYTES);
    await spool.close();
  });

  test('without a folder of them, or one on another disk, a process lays out what it needs by itself', () => {
    openRoot();
    expect(take('p1')).toBe(false);
    const elsewhere = {
      ...NODE_FILES,
      listNames: (dir: string) => (dir.endsWith('standby') ? ['01'] : ['losses.bin']),
      rename: () => {
        throw Object.assign(new Error('another file system'), { code: 'EXDEV' });
      },
    };
    expect(takePrepared(join(root, 'standby'), join(root, 'spool', 'p1'), elsewhere, quietLog())).toBe(false);
  });
});

const smallDisks = listSmallDisks().filter(({ means }) => means === 'a full tmpfs');

test.each(smallDisks)(
  'a small disk gives a hundredth of itself to each, and nothing when it is almost full',
  async ({ open }) => {
    const disk = open();
    const preparedDir = join(disk.dir, 'standby');
    try {
      const { blocks, bsize } = statfsSync(disk.dir);
      await prepareDirectory(preparedDir);
      expect(statSync(join(preparedDir, '01', 'reserve.bin')).size).toBe(Math.floor((blocks * bsize) / 100));
      disk.fill();
      expect(await prepareDirectory(preparedDir)).toBe(false);
      expect(readdirSync(preparedDir)).toEqual(['01']);
    } finally {
      disk.remove();
    }
  },
);
