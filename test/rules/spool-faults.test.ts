/**
 * The spool on file systems that fail: whichever call fails, calls go on, every record is answered for once, and what was
 * said to be kept is there.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { readLosses } from '../../src/spool/losses-file.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callBody, callEnd } from '../support/call-fixtures.ts';
import { createFaultyFiles, type FaultCode } from '../support/faulty-files.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readSpool } from '../support/read-spool.ts';

const CALLS = 4;

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spool-faults-'));
  return () => rmSync(root, { recursive: true, force: true });
});

/** The endings that the writer says are kept. */
async function writeCalls(spool: SpoolWriter): Promise<string[]> {
  const kept: string[] = [];
  for (let number = 1; number <= CALLS; number += 1) {
    const begin = callBegin(number);
    const end = callEnd(number);
    // One ending is large, so that its group goes through the thread pool.
    const bodies = number === 3 ? [callBody(number, 'response', Buffer.alloc(300_000, 7))] : [];
    await new Promise<boolean>((resolve) => spool.begin(begin, resolve));
    if (await new Promise<boolean>((resolve) => spool.end(begin, end, bodies, resolve))) kept.push(end.id);
  }
  return kept;
}

interface FaultCase {
  readonly code: FaultCode;
  readonly durability: 'process' | 'power';
  readonly length: number;
}

const CASES: readonly FaultCase[] = [
  { code: 'ENOSPC', durability: 'process', length: 1 },
  { code: 'EMFILE', durability: 'process', length: 7 },
  { code: 'EIO', durability: 'power', length: 1 },
  { code: 'ENOSPC', durability: 'power', length: 7 },
];

test.each(CASES)(
  'with durability $durability, $length calls on the file system fail with $code, beginning at each in turn',
  async ({ code, durability, length }) => {
    for (let first = 1; ; first += 1) {
      const dir = join(root, String(first), 'p1');
      const faulty = createFaultyFiles();
      faulty.failWhen(code, (call) => call >= first && call < first + length);
      const log = quietLog();
      const spool = openSpoolWriter({ dir, durability, segmentBytes: 4_000, maxBytes: 1e9, files: faulty.files, log });
      const kept = await writeCalls(spool);
      await spool.close();
      const stats = spool.stats();
      const found = await readSpool(dir, true);
      const label = `fault at ${first}`;
      expect([label, stats.endsSpooled + stats.recordsLost]).toEqual([label, CALLS]);
      // What is lost is not there as well, and what could not be brought to the disk is not called kept.
      expect([label, new Set(found.ids).size]).toEqual([label, stats.endsSpooled]);
      expect([label, kept.filter((id) => !found.ids.includes(id))]).toEqual([label, []]);
      expect([label, stats.endsSpooled - kept.length <= stats.framesUnsynced]).toEqual([label, true]);
      expect([label, (await readLosses(dir)).calls]).toEqual([label, stats.recordsLost]);
      expect([label, found.corruptBytes]).toEqual([label, 0]);
      if (durability === 'process') expect([label, found.ids.length]).toEqual([label, stats.endsSpooled]);
      if (faulty.calls() < first) break;
    }
  },
);

test('with durability power a segment whose sync fails is left, and its records are written again to a new one', async () => {
  const dir = join(root, 'p1');
  const faulty = createFaultyFiles();
  const spool = openSpoolWriter({ dir, durability: 'power', maxBytes: 1e9, files: faulty.files, log: quietLog() });
  const first = callBegin(1);
  await new Promise((resolve) => spool.end(first, callEnd(1), [], resolve));
  let failures = 1;
  faulty.failWhen('EIO', (_call, name) => name === 'sync' && failures-- > 0);
  const kept = await new Promise((resolve) => spool.end(callBegin(2), callEnd(2), [], resolve));
  expect(kept).toBe(true);
  expect(readFileSync(join(dir, 'seg-00000002.log')).includes(callEnd(2).id)).toBe(true);
  expect((await readSpool(dir, true)).ids).toEqual([callEnd(1).id, callEnd(2).id, callEnd(2).id]);

  // A disk that never syncs: the record is in the operating system, and nobody is told that it is safe.
  faulty.failWhen('EIO', (_call, name) => name === 'sync');
  expect(await new Promise((resolve) => spool.end(callBegin(3), callEnd(3), [], resolve))).toBe(false);
  expect(spool.stats()).toMatchObject({ endsSpooled: 3, recordsLost: 0, framesUnsynced: 1, isRefusing: true });
  faulty.failWhen('EIO', () => false);
  expect(await new Promise((resolve) => spool.end(callBegin(4), callEnd(4), [], resolve))).toBe(true);
  expect(spool.stats().isRefusing).toBe(false);
  await spool.close();
});

test('a sync that fails while a large group is on its way costs nothing of the group', async () => {
  const dir = join(root, 'p1');
  const faulty = createFaultyFiles();
  const files = { ...faulty.files };
  let finishWrite = () => {};
  files.writeInBackground = (fd, bytes, done) => {
    finishWrite = () => faulty.files.writeInBackground(fd, bytes, done);
  };
  const spool = openSpoolWriter({ dir, durability: 'process', maxBytes: 1e9, files, log: quietLog() });
  await new Promise((resolve) => spool.end(callBegin(1), callEnd(1), [], resolve));
  const synced = new Promise<void>((resolve) => {
    faulty.failWhen('EIO', (_call, name) => {
      if (name === 'sync') setImmediate(resolve);
      return name === 'sync';
    });
  });
  const bodies = [callBody(2, 'response', Buffer.alloc(300_000))];
  const large = new Promise((resolve) => spool.end(callBegin(2), callEnd(2), bodies, resolve));
  await synced;
  await new Promise((resolve) => setTimeout(resolve, 20));
  finishWrite();
  expect(await large).toBe(true);
  await new Promise((resolve) => spool.end(callBegin(3), callEnd(3), [], resolve));
  await spool.close();
  expect((await readSpool(dir, true)).ids).toEqual([callEnd(1).id, callEnd(2).id, callEnd(3).id]);
  expect(existsSync(join(dir, 'seg-00000002.log'))).toBe(true);
});

test('on a read-only file system the gateway starts, says so, and counts what it loses', async () => {
  // A device file in the place of the folder: nobody, not even root, can make a directory below it.
  const log = quietLog();
  const spool = openSpoolWriter({ dir: '/dev/null/spool/p1', durability: 'process', log });
  const kept = await writeCalls(spool);
  expect(kept).toEqual([]);
  expect(spool.stats()).toMatchObject({ endsSpooled: 0, recordsLost: CALLS, isRefusing: true });
  expect(log.messages[0]).toBe('the spool directory cannot be used; records will be lost until it can');
  await spool.close();
});

test('a call whose ending could not be made is lost, and counted with its key and model', async () => {
  const dir = join(root, 'p1');
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  spool.giveUp(callBegin(1, { keyId: 5 }));
  await spool.close();
  expect(spool.stats().recordsLost).toBe(1);
  expect(await readLosses(dir)).toMatchObject({
    calls: 1,
    entries: [{ keyId: 5, model: 'gpt-5', calls: 1, usage: {} }],
  });
});

test('foreign files in a process directory are neither read nor in the way', async () => {
  const dir = join(root, 'p1');
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  for (const name of ['seg-1.log', 'seg-00000001.log.bak', 'core', 'reserve.bin.old'])
    writeFileSync(join(dir, name), 'x'.repeat(5_000));
  const kept = await writeCalls(spool);
  await spool.close();
  expect(await readSpool(dir, true)).toMatchObject({ ids: kept, corruptBytes: 0 });
});
