/**
 * Files of the spool in states that nobody wrote: torn, flipped, emptied, gone. Reading always ends, gives every whole
 * record once, and counts the rest.
 */
import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { SPOOL_START, type SpoolPosition } from '../../src/spool/cursor.ts';
import { segmentName } from '../../src/spool/segment-file.ts';
import { openSpoolReader } from '../../src/spool/spool-reader.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import { callBegin, callBody, callEnd, callId } from '../support/call-fixtures.ts';
import { createFaultyFiles } from '../support/faulty-files.ts';
import { quietLog } from '../support/quiet-log.ts';
import { readSpool } from '../support/read-spool.ts';

let root: string;
let dir: string;
/** The second of three segments: three endings, the middle one with a body. */
let whole: Buffer;
let frames: { readonly at: number; readonly bytes: number }[];

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'spool-damage-'));
  dir = join(root, 'p1');
  for (let segment = 0; segment < 3; segment += 1) {
    const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
    for (let number = segment * 3; number < segment * 3 + 3; number += 1) {
      const bodies = number % 3 === 1 ? [callBody(number, 'request', Buffer.from('{"a":1}'))] : [];
      await new Promise((resolve) => spool.end(callBegin(number), callEnd(number), bodies, resolve));
    }
    await spool.close();
  }
  whole = readFileSync(join(dir, segmentName(2)));
  const positions: { at: number; bytes: number }[] = [];
  const reader = openSpoolReader(dir, { segment: 2, offset: 0 });
  const { entries } = await reader.read({ maxEnds: 3, maxBytes: 1e9 }, false);
  for (const { entry, bytes, at } of entries) if (entry.type === 'end') positions.push({ at: at.offset, bytes });
  frames = positions;
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

beforeEach(() => writeFileSync(join(dir, segmentName(2)), whole));

const ids = (...numbers: number[]) => numbers.map(callId);

/** Magic, version, type, length, length of the text, text, body, checksum; of the frame in the middle. */
function placesOf(frame: { at: number; bytes: number }): [string, number][] {
  const { at, bytes } = frame;
  return [
    ['magic', at],
    ['version', at + 4],
    ['type', at + 5],
    ['length', at + 6],
    ['low byte of the length', at + 9],
    ['length of the text', at + 10],
    ['text', at + 200],
    ['body', at + bytes - 6],
    ['checksum', at + bytes - 1],
  ];
}

test.each([true, false])(
  'a flipped bit in any part of a record costs that record (writer dead: %s)',
  async (isDead) => {
    const middle = frames[1] ?? { at: 0, bytes: 0 };
    for (const [place, at] of placesOf(middle)) {
      const damaged = Buffer.from(whole);
      damaged[at] = (damaged[at] ?? 0) ^ 4;
      writeFileSync(join(dir, segmentName(2)), damaged);
      const found = await readSpool(dir, isDead);
      expect([place, found.ids, found.corruptBytes]).toEqual([place, ids(0, 1, 2, 3, 5, 6, 7, 8), middle.bytes]);
    }
  },
);

test.each([true, false])(
  'a segment cut in any part of a record keeps those before it (writer dead: %s)',
  async (isDead) => {
    const middle = frames[1] ?? { at: 0, bytes: 0 };
    for (const [place, at] of placesOf(middle)) {
      writeFileSync(join(dir, segmentName(2)), whole.subarray(0, at));
      const found = await readSpool(dir, isDead);
      expect([place, found.ids, found.corruptBytes]).toEqual([place, ids(0, 1, 2, 3, 6, 7, 8), at - middle.at]);
    }
  },
);

test('zeros in the place of records, as a loss of power can leave them, cost those records', async () => {
  const middle = frames[1] ?? { at: 0, bytes: 0 };
  const damaged = Buffer.from(whole).fill(0, middle.at, middle.at + middle.bytes);
  writeFileSync(join(dir, segmentName(2)), damaged);
  const found = await readSpool(dir, false);
  expect([found.ids, found.corruptBytes]).toEqual([ids(0, 1, 2, 3, 5, 6, 7, 8), middle.bytes]);
  writeFileSync(join(dir, segmentName(2)), Buffer.alloc(100_000));
  expect(await readSpool(dir, true)).toMatchObject({ ids: ids(0, 1, 2, 6, 7, 8), corruptBytes: 0 });
});

test('a segment that is missing or empty is passed over', async () => {
  writeFileSync(join(dir, segmentName(2)), '');
  expect(await readSpool(dir, false)).toMatchObject({ ids: ids(0, 1, 2, 6, 7, 8), corruptBytes: 0 });
  unlinkSync(join(dir, segmentName(2)));
  expect(await readSpool(dir, false)).toMatchObject({ ids: ids(0, 1, 2, 6, 7, 8), corruptBytes: 0 });
});

test('a reader in the middle of bytes that are cut off again goes on behind them', async () => {
  const path = join(dir, segmentName(2));
  const middle = frames[1] ?? { at: 0, bytes: 0 };
  writeFileSync(path, whole.subarray(0, middle.at + 50));
  const reader = openSpoolReader(dir, { segment: 2, offset: 0 });
  // It stops before the end of segment 2 and has read the torn record by then.
  await reader.read({ maxEnds: 1, maxBytes: 1e9 }, false);
  truncateSync(path, middle.at);
  const rest = await reader.read({ maxEnds: 9, maxBytes: 1e9 }, false);
  expect(rest.entries.length).toBe(4);
  expect(rest.corrupt).toEqual([]);
  expect(statSync(path).size).toBe(middle.at);
});

type Step =
  | { readonly kind: 'call'; readonly bodyBytes: number }
  | { readonly kind: 'fault'; readonly from: number; readonly length: number }
  | { readonly kind: 'read'; readonly maxEnds: number }
  | { readonly kind: 'restart' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('call'), bodyBytes: fc.integer({ min: 0, max: 900 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fault'),
      from: fc.integer({ min: 1, max: 6 }),
      length: fc.integer({ min: 1, max: 9 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('read'), maxEnds: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
);

test('whatever fails and wherever reading stops and goes on, each kept record is given out exactly once', async () => {
  let run = 0;
  /** Runs in which the emergency segment was written. */
  let inEmergency = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      run += 1;
      const place = join(root, `run-${run}`, 'p1');
      const faulty = createFaultyFiles();
      const sizes = { segmentBytes: 12_000, maxBytes: 1e9, emergencyBytes: 5_000, spaceIntervalMs: 1 };
      const fixed = { dir: place, durability: 'process', log: quietLog() } as const;
      const spool = openSpoolWriter({ ...fixed, ...sizes, files: faulty.files });
      while (!spool.stats().hasEmergencySegment) await new Promise((resolve) => setTimeout(resolve, 1));
      let position: SpoolPosition = SPOOL_START;
      let reader = openSpoolReader(place, position);
      const kept: string[] = [];
      const read: string[] = [];
      const pending: Promise<void>[] = [];
      const readOn = async (maxEnds: number, isDead: boolean) => {
        const batch = await reader.read({ maxEnds, maxBytes: 1e9 }, isDead);
        for (const { entry } of batch.entries) if (entry.type === 'end') read.push(entry.end.id);
        expect(batch.corrupt).toEqual([]);
        position = batch.after;
        return batch.isDrained;
      };
      for (const [number, now] of steps.entries()) {
        if (now.kind === 'call') {
          const bodies = now.bodyBytes === 0 ? [] : [callBody(number, 'response', Buffer.alloc(now.bodyBytes))];
          const begin = callBegin(number);
          spool.begin(begin, () => {});
          const end = callEnd(number);
          pending.push(
            new Promise((resolve) =>
              spool.end(begin, end, bodies, (isKept) => {
                if (isKept) kept.push(end.id);
                resolve();
              }),
            ),
          );
        } else if (now.kind === 'fault') {
          const first = faulty.calls() + now.from;
          faulty.failWhen('ENOSPC', (call) => call >= first && call < first + now.length);
        } else if (now.kind === 'read') await readOn(now.maxEnds, false);
        else reader = openSpoolReader(place, position);
      }
      await Promise.all(pending);
      await spool.close();
      while (!(await readOn(500, true)));
      expect(read.sort()).toEqual(kept.sort());
      expect(spool.stats().endsSpooled).toBe(kept.length);
      if (spool.stats().compacted > 0) inEmergency += 1;
      rmSync(join(root, `run-${run}`), { recursive: true });
    }),
    { seed: 11, numRuns: 60 },
  );
  expect(inEmergency).toBeGreaterThan(5);
});
