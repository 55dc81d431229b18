/** Counting what waits by the headers of frames: in whole segments, within limits, over damage. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callBegin, callEnd, NOON_MS } from '../../test/support/call-fixtures.ts';
import { quietLog } from '../../test/support/quiet-log.ts';
import { createWaitingCounter, walkFrames } from './count-waiting.ts';
import { SPOOL_START } from './cursor.ts';
import { openSpoolWriter } from './spool-writer.ts';

const NO_LIMIT = { maxBytes: Number.MAX_SAFE_INTEGER, deadlineMs: Number.POSITIVE_INFINITY };
const ID_AT_NOON = `${NOON_MS.toString(16)
  .padStart(12, '0')
  .replace(/^(.{8})/, '$1-')}-7000-8000-000000000001`;

let dir: string;
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), 'waiting-')), 'p1');
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true }));

/** So many calls, two records each, a few to a segment. */
async function writeCalls(count: number): Promise<void> {
  const spool = openSpoolWriter({ dir, segmentBytes: 4_096, durability: 'process', log: quietLog() });
  for (let number = 1; number <= count; number += 1) {
    const begin = callBegin(number, { id: ID_AT_NOON });
    await new Promise((done) => spool.begin(begin, done));
    await new Promise((done) => spool.end(begin, callEnd(number), [], done));
  }
  await spool.close();
}

const listSegments = () => readdirSync(dir).filter((name) => name.startsWith('seg-'));

test('all endings are counted over the segments, with the age of the first, and those behind a cursor only', async () => {
  await writeCalls(20);
  const segments = listSegments();
  expect(segments.length).toBeGreaterThan(3);
  const counter = createWaitingCounter();
  expect(await counter.count(dir, SPOOL_START, NO_LIMIT)).toMatchObject({
    endings: 20,
    oldestMs: NOON_MS,
    isWhole: true,
  });
  const last = segments.length;
  const inLast = walkFrames(readFileSync(join(dir, segments.at(-1) ?? '')), Number.POSITIVE_INFINITY).endings;
  expect((await counter.count(dir, { segment: last, offset: 0 }, NO_LIMIT)).endings).toBe(inLast);
  expect((await counter.count(dir, SPOOL_START, NO_LIMIT)).endings).toBe(20);
});

test('at its limit it says that there is more, and gets further the next time', async () => {
  await writeCalls(20);
  const counter = createWaitingCounter();
  const limits = { ...NO_LIMIT, maxBytes: 5_000 };
  const first = await counter.count(dir, SPOOL_START, limits);
  expect(first.isWhole).toBe(false);
  expect(first.endings).toBeLessThan(20);
  let latest = first;
  for (let tries = 0; tries < 20 && !latest.isWhole; tries += 1) latest = await counter.count(dir, SPOOL_START, limits);
  expect(latest).toMatchObject({ endings: 20, isWhole: true });
});

test('damage is stepped over, an unfinished frame waits, and room that is not written yet is no damage', async () => {
  await writeCalls(1);
  const path = join(dir, listSegments()[0] ?? '');
  const frames = readFileSync(path);
  writeFileSync(path, Buffer.concat([Buffer.from('damaged'), frames, frames.subarray(0, 300)]));
  const counter = createWaitingCounter();
  expect((await counter.count(dir, SPOOL_START, NO_LIMIT)).endings).toBe(1);
  appendFileSync(path, frames.subarray(300));
  expect((await counter.count(dir, SPOOL_START, NO_LIMIT)).endings).toBe(2);
  expect(walkFrames(Buffer.concat([frames, Buffer.alloc(100)]), Number.POSITIVE_INFINITY)).toEqual({
    bytes: frames.length,
    endings: 1,
  });
});
