/** The emergency segment, with a file system that refuses new segments at will: nothing that was acknowledged is written over. */
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openEmergencySegment } from '../../src/spool/emergency-segment.ts';
import { segmentName } from '../../src/spool/segment-file.ts';
import { openSegmentWriter } from '../../src/spool/segment-writer.ts';
import { NODE_FILES, type SpoolFiles } from '../../src/spool/spool-files.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callEnd, callId } from '../support/call-fixtures.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readSpool } from '../support/read-spool.ts';

const EMERGENCY_BYTES = 104 * 1024;
const DISK = { freeBytes: 1e9, diskBytes: 1e12 };

let root: string;
let dir: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spool-emergency-'));
  dir = join(root, 'p1');
  return () => rmSync(root, { recursive: true });
});

async function waitUntil(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error('it never came true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('emergencies that follow each other keep what the first took, also when no segment is made in between', async () => {
  let isRefused = false;
  const files: SpoolFiles = {
    ...NODE_FILES,
    createAppending: (path) => {
      if (isRefused) throw Object.assign(new Error('no descriptor'), { code: 'EMFILE' });
      return NODE_FILES.createAppending(path);
    },
  };
  const sizes = { maxBytes: 1e9, emergencyBytes: EMERGENCY_BYTES, spaceIntervalMs: 20, segmentBytes: 1 };
  const spool = openSpoolWriter({ dir, durability: 'process', ...sizes, files, log: quietLog() });
  const end = (number: number) =>
    new Promise<boolean>((resolve) => spool.end(callBegin(number), callEnd(number), [], resolve));
  await waitUntil(() => spool.stats().hasEmergencySegment);
  expect(await end(1)).toBe(true);
  isRefused = true;
  for (const number of [2, 3, 4]) {
    await waitUntil(() => spool.stats().hasEmergencySegment && existsSync(join(dir, 'reserve.bin')));
    expect(await end(number)).toBe(true);
  }
  isRefused = false;
  await spool.close();
  const { ids } = await readSpool(dir, true);
  expect(ids).toEqual([1, 2, 3, 4].map(callId));
});

test('it takes no name that another file has, although the folder could not be listed at first', async () => {
  mkdirSync(dir, { recursive: true });
  for (const number of [1, 2]) writeFileSync(join(dir, segmentName(number)), `segment ${number}`);
  let isListed = false;
  const listNames = (path: string) => {
    if (!isListed) throw new Error('no descriptor');
    return NODE_FILES.listNames(path);
  };
  const emergency = openEmergencySegment(dir, EMERGENCY_BYTES, { ...NODE_FILES, listNames }, quietLog());
  isListed = true;
  await emergency.keepReady(DISK);
  expect(emergency.write(Buffer.from('emergency'), 0)).toBe(true);
  await emergency.close();
  expect(readdirSync(dir).map((name) => [name, lstatSync(join(dir, name)).size])).toEqual([
    [segmentName(1), 9],
    [segmentName(2), 9],
    [segmentName(3), 9],
  ]);
});

test('synced means its name, too, and what is in one that was just left', async () => {
  const steps: string[] = [];
  let isFailing = false;
  const files: SpoolFiles = {
    ...NODE_FILES,
    sync: (fd, done) =>
      NODE_FILES.sync(fd, (error) => {
        steps.push('file');
        done(isFailing ? new Error('no sync') : error);
      }),
    syncDirectory: (path, done) =>
      NODE_FILES.syncDirectory(path, (error) => {
        steps.push('directory');
        done(error);
      }),
  };
  const emergency = openEmergencySegment(dir, EMERGENCY_BYTES, files, quietLog());
  const sync = () => new Promise<boolean>((resolve) => emergency.sync(resolve));
  await emergency.keepReady(DISK);
  expect(emergency.write(Buffer.alloc(10, 1), 0)).toBe(true);
  expect([await sync(), steps.splice(0)]).toEqual([true, ['file', 'directory']]);
  expect(emergency.write(Buffer.alloc(10, 1), 0)).toBe(true);
  expect([await sync(), steps.splice(0)]).toEqual([true, ['file']]);

  expect(emergency.write(Buffer.alloc(10, 1), 0)).toBe(true);
  expect(emergency.write(Buffer.alloc(EMERGENCY_BYTES, 1), 0)).toBe(false);
  expect([await sync(), steps.splice(0)]).toEqual([true, ['file']]);

  await emergency.keepReady(DISK);
  expect(emergency.write(Buffer.alloc(10, 1), 0)).toBe(true);
  isFailing = true;
  expect(emergency.write(Buffer.alloc(EMERGENCY_BYTES, 1), 0)).toBe(false);
  expect(await sync()).toBe(false);
  await emergency.close();
});

test('an ordinary segment that was left unsynced, in the middle of a group, is not called durable', async () => {
  let isFailing = false;
  const write: SpoolFiles['write'] = (...write) => {
    if (isFailing) throw new Error('no room');
    return NODE_FILES.write(...write);
  };
  const segments = openSegmentWriter({ dir, segmentBytes: 1e6, files: { ...NODE_FILES, write }, log: quietLog() });
  const sync = () => new Promise<boolean>((resolve) => segments.sync(resolve));
  expect(segments.writeSync(Buffer.from('first'))).toBe(true);
  expect(await sync()).toBe(true);
  expect(segments.writeSync(Buffer.from('second'))).toBe(true);
  isFailing = true;
  expect(segments.writeSync(Buffer.from('third'))).toBe(false);
  expect(await sync()).toBe(false);
  isFailing = false;
  expect(segments.writeSync(Buffer.from('fourth'))).toBe(true);
  expect(await sync()).toBe(true);
  await segments.close();
});
