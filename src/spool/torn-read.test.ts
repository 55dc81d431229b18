import { mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { callBegin } from '../../test/support/call-fixtures.ts';
import { SPOOL_START } from './cursor.ts';
import { FrameGroup } from './frame-group.ts';
import { segmentName } from './segment-file.ts';
import { openSpoolReader } from './spool-reader.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

const LIMITS = { maxEnds: 100, maxBytes: 1_000_000 };

function frame(number: number): Buffer {
  const group = new FrameGroup();
  group.addText('begin', JSON.stringify(callBegin(number)));
  return Buffer.from(group.bytes);
}

/** A file of zeros that is written in place, as the emergency segment is, and its reader. */
function openEmergencySegment() {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-torn-'));
  dirs.push(dir);
  const file = openSync(join(dir, segmentName(SPOOL_START.segment)), 'w+');
  writeSync(file, Buffer.alloc(64 * 1024), 0, 64 * 1024, 0);
  const reader = openSpoolReader(dir, SPOOL_START);
  return {
    write: (bytes: Buffer, at: number) => writeSync(file, bytes, 0, bytes.length, at),
    read: async () => {
      const { entries, corrupt } = await reader.read(LIMITS, false);
      return {
        calls: entries.map(({ entry }) => (entry.type === 'begin' ? entry.begin.requestedAtMs % 1_000 : entry.type)),
        corruptBytes: corrupt.reduce((sum, { bytes }) => sum + bytes, 0),
      };
    },
  };
}

const [FIRST, SECOND, THIRD] = [frame(1), frame(2), frame(3)];
const SECOND_AT = FIRST.length;
const THIRD_AT = FIRST.length + SECOND.length;

test('a frame that is read while it is half written is read again, and nothing behind it is lost', async () => {
  const { write, read } = openEmergencySegment();
  write(FIRST, 0);
  write(SECOND.subarray(0, 100), SECOND_AT);
  expect(await read()).toEqual({ calls: [1], corruptBytes: 0 });
  write(SECOND, SECOND_AT);
  write(THIRD, THIRD_AT);
  expect(await read()).toEqual({ calls: [2, 3], corruptBytes: 0 });
});

test('so is one whose place was still empty when what follows it had been written', async () => {
  const { write, read } = openEmergencySegment();
  write(FIRST, 0);
  write(THIRD, THIRD_AT);
  expect(await read()).toEqual({ calls: [1], corruptBytes: 0 });
  write(SECOND, SECOND_AT);
  expect(await read()).toEqual({ calls: [2, 3], corruptBytes: 0 });
});

test('what stays damaged is stepped over with the next batch, and what is written behind it later is found', async () => {
  const { write, read } = openEmergencySegment();
  write(FIRST, 0);
  const damaged = Buffer.from(SECOND);
  damaged.fill('?', 20, 30);
  write(damaged, SECOND_AT);
  expect(await read()).toEqual({ calls: [1], corruptBytes: 0 });
  expect((await read()).calls).toEqual([]);
  write(THIRD, THIRD_AT);
  await read();
  write(frame(4), THIRD_AT + THIRD.length);
  const { calls } = await read();
  expect(calls.at(-1)).toBe(4);
});
