/** A disk without a free byte: the endings of the calls in flight are kept, in room that was put aside for them. */
import { existsSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { CallTally } from '../../src/spool/call-tally.ts';
import { readCursorFile, SPOOL_START } from '../../src/spool/cursor.ts';
import { readLosses } from '../../src/spool/losses-file.ts';
import { advanceCursor, clearSegments } from '../../src/spool/process-directories.ts';
import { segmentName } from '../../src/spool/segment-file.ts';
import { openSpoolReader } from '../../src/spool/spool-reader.ts';
import { openSpoolWriter, type SpoolWriter } from '../../src/spool/spool-writer.ts';
import type { CallBegin } from '../../src/vocabulary/call-record.ts';
import { callBegin, callBody, callEnd, callId } from '../support/call-fixtures.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readSpool } from '../support/read-spool.ts';
import { listSmallDisks, type SmallDisk } from '../support/small-disk.ts';

const IN_FLIGHT = 60;
/** The endings of the calls in flight are more than half of it. */
const EMERGENCY_BYTES = 104 * 1024;
const LIMITS = { maxEnds: 500, maxBytes: 8 * 1024 * 1024 };

function begin(spool: SpoolWriter, record: CallBegin): Promise<boolean> {
  return new Promise((resolve) => spool.begin(record, resolve));
}

function end(spool: SpoolWriter, record: CallBegin, number: number): Promise<boolean> {
  const bodies = [callBody(number, 'response', Buffer.alloc(1000))];
  return new Promise((resolve) => spool.end(record, callEnd(number), bodies, resolve));
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!isSo()) {
    if (performance.now() > deadlineMs) throw new Error('it never came true');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe.each(listSmallDisks())('$means', ({ open }) => {
  let disk: SmallDisk;
  afterEach(() => disk.remove());

  function openWriter(dir: string, onFull: 'open' | 'closed'): SpoolWriter {
    const { files } = disk;
    const log = quietLog();
    const sizes = { maxBytes: 1e9, emergencyBytes: EMERGENCY_BYTES, spaceIntervalMs: 20 };
    return openSpoolWriter({ dir, durability: 'process', onFull, ...sizes, files, log });
  }

  test('all calls in flight keep their endings while somebody else takes all that is freed; then all is as before', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    const spool = openWriter(dir, 'open');
    await waitUntil(() => spool.stats().hasEmergencySegment);
    const begins = Array.from({ length: IN_FLIGHT }, (_, index) => callBegin(index));
    for (const record of begins) expect(await begin(spool, record)).toBe(true);

    const reader = openSpoolReader(dir, SPOOL_START);
    const read: string[] = [];
    const readOn = async () => {
      const batch = await reader.read(LIMITS, false);
      for (const { entry } of batch.entries) if (entry.type === 'end') read.push(entry.end.id);
      expect(batch.corrupt).toEqual([]);
    };
    for (const [number, record] of begins.entries()) {
      disk.fill();
      expect([number, disk.freeBytes(), await end(spool, record, number)]).toEqual([number, 0, true]);
      if (number % 7 === 0) await readOn();
    }
    await readOn();
    expect(read).toEqual(begins.map(({ id }) => id));
    expect(spool.stats()).toMatchObject({
      endsSpooled: IN_FLIGHT,
      recordsLost: 0,
      compacted: IN_FLIGHT,
      isRefusing: true,
    });
    expect(spool.stats().bodiesDropped).toBe(IN_FLIGHT);
    // A call that begins in the second half goes on without its begin, which its ending repeats.
    const late = callBegin(IN_FLIGHT, { traceId: 'run' });
    expect(await begin(spool, late)).toBe(false);
    expect(await end(spool, late, IN_FLIGHT)).toBe(true);

    disk.empty();
    await waitUntil(() => !spool.stats().isRefusing);
    const after = callBegin(IN_FLIGHT + 1);
    expect(await begin(spool, after)).toBe(true);
    expect(await end(spool, after, IN_FLIGHT + 1)).toBe(true);
    expect(existsSync(join(dir, 'reserve.bin'))).toBe(true);
    await spool.close();
    const found = await readSpool(dir, true);
    expect(found.ids).toEqual([...begins, late, after].map(({ id }) => id));
    expect(found.corruptBytes).toBe(0);
    expect(found.ends.map(({ flags }) => flags.join())).toEqual([
      ...[...begins, late].map(() => 'compacted,body_dropped'),
      '',
    ]);
    expect(await readLosses(dir)).toEqual({ calls: 0, entries: [] });
  });

  test('a call that begins on a full disk is written down as well, as long as half of the emergency segment is left', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    const spool = openWriter(dir, 'closed');
    await waitUntil(() => spool.stats().hasEmergencySegment);
    disk.fill();
    expect(await begin(spool, callBegin(1))).toBe(true);
    expect(await end(spool, callBegin(2), 2)).toBe(true);
    expect(await begin(spool, callBegin(3, { traceId: 'run' }))).toBe(true);
    expect(spool.stats()).toMatchObject({ beginsSkipped: 0, isRefusing: false });
    await spool.close();
    const { entries } = await readSpool(dir, true);
    expect(entries.map((entry) => (entry.type === 'begin' ? entry.begin.id : entry.type))).toEqual([
      callId(1),
      'end',
      callId(3),
    ]);
  });

  test('when the emergency segment is used up, too, calls are lost and counted by minute, key and model', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    const spool = openWriter(dir, 'open');
    await waitUntil(() => spool.stats().hasEmergencySegment);
    disk.fill();
    const kept: string[] = [];
    let calls = 0;
    while (spool.stats().recordsLost < 3 && calls < 30_000) {
      const results = await Promise.all(
        Array.from({ length: 100 }, async (_, index) => {
          const number = calls + index;
          return { number, isKept: await end(spool, callBegin(number), number) };
        }),
      );
      calls += results.length;
      for (const { number, isKept } of results) if (isKept) kept.push(callId(number));
      disk.fill();
    }
    const { endsSpooled, recordsLost } = spool.stats();
    expect(endsSpooled + recordsLost).toBe(calls);
    await spool.close();
    expect((await readSpool(dir, true)).ids).toEqual(kept);
    const losses = await readLosses(dir);
    expect(losses.calls).toBe(recordsLost);
    expect(losses.entries.map(({ keyId, model, calls: count }) => [keyId, model, count])).toEqual([
      [1, 'gpt-5-2025-08-07', recordsLost],
    ]);
    expect(losses.entries[0]?.usage.output).toBe(7 * recordsLost);
    // What is stored can be cleared away although there is no room for a cursor.
    await advanceCursor(dir, { segment: 9, offset: 0 });
    expect((await readSpool(dir, true)).ids).toEqual([]);
  });

  test('the cursor moves with its count of calls although somebody takes all that is freed', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    mkdirSync(dir, { recursive: true });
    for (const [segment, bytes] of [
      [1, 0],
      [2, 10_000],
      [3, 10_000],
    ] as const) {
      const path = join(dir, segmentName(segment));
      writeFileSync(path, Buffer.alloc(bytes, 1));
      // What is deleted makes no room.
      linkSync(path, join(disk.dir, `kept-${segment}`));
    }
    disk.fill();
    const tally = CallTally.empty();
    // The first one has no room to give, and is left: without a cursor it says that nothing was before it.
    await advanceCursor(dir, { segment: 2, offset: 0 }, tally).catch(() => {});
    expect((await readCursorFile(dir)).isSuspect).toBe(false);
    tally.store({ ordinal: 1, outcome: 'ok' });
    await advanceCursor(dir, { segment: 3, offset: 7 }, tally);
    const read = await readCursorFile(dir);
    expect([read.position, read.tally.stored, read.tally.unknown]).toEqual([{ segment: 3, offset: 7 }, 1, null]);
    expect(readdirSync(dir).sort()).toEqual(['cursor.json', segmentName(3)]);
    tally.store({ ordinal: 2, outcome: 'ok' });
    await clearSegments(dir, { segment: 3, offset: 10_000 }, tally);
    expect((await readCursorFile(dir)).tally.stored).toBe(2);
  });

  test('a process that begins on a full disk numbers its segments from 1, so that its calls can be counted', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    disk.fill();
    const spool = openWriter(dir, 'open');
    for (const number of [1, 2, 3]) expect(await end(spool, callBegin(number), number)).toBe(false);
    disk.empty();
    expect(await end(spool, callBegin(4), 4)).toBe(true);
    expect(await readCursorFile(dir)).toMatchObject({ isSuspect: false });
    await spool.close();
    expect((await readSpool(dir, true)).ids).toEqual([callId(4)]);
    expect((await readLosses(dir)).calls).toBe(3);
  });

  test('with on_full=closed a begin is refused, and the endings of calls before it are kept', async () => {
    disk = open();
    const dir = join(disk.dir, 'spool', 'p1');
    const spool = openWriter(dir, 'closed');
    await waitUntil(() => spool.stats().hasEmergencySegment);
    const before = Array.from({ length: IN_FLIGHT }, (_, number) => callBegin(number));
    for (const record of before) expect(await begin(spool, record)).toBe(true);
    disk.fill();
    for (const [number, record] of before.entries()) expect(await end(spool, record, number)).toBe(true);
    expect(await begin(spool, callBegin(IN_FLIGHT, { traceId: 'run' }))).toBe(false);
    disk.empty();
    await waitUntil(() => !spool.stats().isRefusing);
    expect(await begin(spool, callBegin(IN_FLIGHT))).toBe(true);
    await spool.close();
    expect(spool.stats()).toMatchObject({ endsSpooled: IN_FLIGHT, recordsLost: 0, beginsSkipped: 1 });
  });
});
