import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { callBegin, callBody, callCheckpoint, callEnd } from '../../test/support/call-fixtures.ts';
import { firstBodyFrame, firstEndFrame } from '../../test/support/first-spool-frames.ts';
import { quietLog } from '../../test/support/quiet-log.ts';
import { readCursorFile, SPOOL_START, writeCursor } from './cursor.ts';
import { judgePressure } from './disk-space.ts';
import { FrameGroup } from './frame-group.ts';
import { readLosses } from './losses-file.ts';
import {
  advanceCursor,
  listProcessDirectories,
  quarantineSegment,
  removeProcessDirectory,
} from './process-directories.ts';
import { openSpoolReader } from './spool-reader.ts';
import { openSpoolWriter, type SpoolWriter } from './spool-writer.ts';

function endFrame(number: number): Buffer {
  const group = new FrameGroup();
  group.addEnd(JSON.stringify(callBegin(number)), callEnd(number), []);
  return Buffer.from(group.bytes);
}

const LIMITS = { maxEnds: 500, maxBytes: 8 * 1024 * 1024 };

let root: string;
let dir: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'spool-'));
  dir = join(root, 'spool', 'p1');
  return () => rmSync(root, { recursive: true });
});

function kept(append: (done: (kept: boolean) => void) => void): Promise<boolean> {
  return new Promise(append);
}

async function writeCall(spool: SpoolWriter, number: number): Promise<void> {
  const begin = callBegin(number);
  expect(await kept((done) => spool.begin(begin, done))).toBe(true);
  expect(await kept((done) => spool.end(begin, callEnd(number), [], done))).toBe(true);
}

test.each(['process', 'power'] as const)(
  'with durability %s records come back in the order of writing',
  async (durability) => {
    const log = quietLog();
    const spool = openSpoolWriter({ dir, durability, log });
    const begin = callBegin(1);
    const order: string[] = [];
    await Promise.all([
      kept((done) => spool.begin(begin, done)).then(() => order.push('begin')),
      kept((done) => spool.checkpoint(callCheckpoint(1), done)).then(() => order.push('checkpoint')),
      kept((done) => spool.end(begin, callEnd(1), [callBody(1, 'request', Buffer.from('x'))], done)).then(() =>
        order.push('end'),
      ),
    ]);
    expect(order).toEqual(['begin', 'checkpoint', 'end']);
    await spool.close();
    const batch = await openSpoolReader(dir, SPOOL_START).read(LIMITS, true);
    expect(batch.entries.map(({ entry }) => entry)).toEqual([
      { type: 'begin', begin },
      { type: 'checkpoint', checkpoint: callCheckpoint(1) },
      { type: 'body', body: callBody(1, 'request', Buffer.from('x')) },
      { type: 'end', begin, end: callEnd(1) },
    ]);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dir, 'seg-00000001.log')).mode & 0o777).toBe(0o600);
    expect(log.messages).toEqual([]);
  },
);

test('when done is called the record is in the file', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  const found = await new Promise((resolve) => {
    spool.begin(callBegin(7), () => resolve(readFileSync(join(dir, 'seg-00000001.log')).includes(callBegin(7).id)));
  });
  expect(found).toBe(true);
  await spool.close();
});

test('small segments follow each other, and a group larger than one is still whole', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', segmentBytes: 3000, log: quietLog() });
  for (let number = 0; number < 10; number += 1) await writeCall(spool, number);
  const body = callBody(99, 'response', Buffer.alloc(600_000, 7));
  await kept((done) => spool.end(callBegin(99), callEnd(99), [body], done));
  await writeCall(spool, 100);
  await spool.close();
  expect(spool.stats().segments).toBeGreaterThan(5);
  const reader = openSpoolReader(dir, SPOOL_START);
  const ids: string[] = [];
  for (;;) {
    const batch = await reader.read({ maxEnds: 3, maxBytes: 4000 }, true);
    for (const { entry } of batch.entries) if (entry.type === 'end') ids.push(entry.end.id);
    if (batch.isDrained) break;
  }
  expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 99, 100].map((number) => callEnd(number).id));
});

test('a reader follows a live segment, and goes on after a torn tail when the next segment is there', async () => {
  mkdirSync(dir, { recursive: true });
  const first = join(dir, 'seg-00000001.log');
  const reader = openSpoolReader(dir, SPOOL_START);
  const read = async () => {
    const batch = await reader.read(LIMITS, false);
    return [batch.entries.length, batch.corrupt, batch.isDrained];
  };
  writeFileSync(first, endFrame(1));
  expect(await read()).toEqual([1, [], true]);
  appendFileSync(first, endFrame(2).subarray(0, 100));
  expect(await read()).toEqual([0, [], true]);
  appendFileSync(first, endFrame(2).subarray(100));
  expect(await read()).toEqual([1, [], true]);
  appendFileSync(first, endFrame(3).subarray(0, 40));
  expect(await read()).toEqual([0, [], true]);
  writeFileSync(join(dir, 'seg-00000003.log'), endFrame(3));
  expect(await read()).toEqual([1, [{ segment: 1, bytes: 40 }], true]);
});

test('bodies that the first release wrote are given out with their ending, even when that is written later', async () => {
  mkdirSync(dir, { recursive: true });
  const path = join(dir, 'seg-00000001.log');
  const body = firstBodyFrame(callBody(1, 'request', Buffer.from('x')));
  const end = firstEndFrame(callBegin(1), callEnd(1));
  writeFileSync(path, body);
  const reader = openSpoolReader(dir, SPOOL_START);
  const early = await reader.read(LIMITS, false);
  expect([early.entries, early.after]).toEqual([[], { segment: 1, offset: 0 }]);
  appendFileSync(path, end);
  const late = await reader.read(LIMITS, false);
  expect(late.entries.map(({ entry }) => entry.type)).toEqual(['body', 'end']);
  expect(late.after).toEqual({ segment: 1, offset: body.length + end.length });
});

test('a cursor that is missing, unreadable or past the files means: from the start', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  await writeCall(spool, 1);
  await spool.close();
  expect((await readCursorFile(dir)).position).toEqual(SPOOL_START);
  for (const text of ['', '{"segment":', '{"segment":-1,"offset":0}', '[]', 'null', '{"segment":9,"offset":0}']) {
    writeFileSync(join(dir, 'cursor.json'), text);
    expect([text, (await readCursorFile(dir)).position]).toEqual([text, SPOOL_START]);
  }
  writeFileSync(join(dir, 'cursor.json'), '{"segment":1,"offset":99999}');
  expect((await readCursorFile(dir)).position).toEqual({ segment: 1, offset: 0 });
  await writeCursor(dir, { segment: 1, offset: 14 });
  expect((await readCursorFile(dir)).position).toEqual({ segment: 1, offset: 14 });
});

test('segments are deleted when the cursor has passed them, and foreign files stay', async () => {
  mkdirSync(dir, { recursive: true });
  for (const name of ['seg-00000001.log', 'seg-00000002.log', 'losses.bin', 'notes.txt'])
    writeFileSync(join(dir, name), '');
  await advanceCursor(dir, { segment: 2, offset: 0 });
  expect(readdirSync(dir).sort()).toEqual(['cursor.json', 'losses.bin', 'notes.txt', 'seg-00000002.log']);
  expect(await listProcessDirectories(join(root, 'spool'))).toEqual(['p1']);
  await removeProcessDirectory(dir);
  expect(readdirSync(dir)).toEqual(['notes.txt']);
  expect(await listProcessDirectories(join(root, 'spool'))).toEqual([]);
  expect(await listProcessDirectories(join(root, 'nowhere'))).toEqual([]);
});

test('a damaged segment is copied to the quarantine once', async () => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'seg-00000001.log'), 'damage');
  const quarantine = join(root, 'quarantine');
  expect(await quarantineSegment(join(root, 'spool'), 'p1', 1, quarantine)).toBe(true);
  expect(await quarantineSegment(join(root, 'spool'), 'p1', 1, quarantine)).toBe(true);
  expect(readdirSync(quarantine)).toEqual(['p1-seg-00000001.log']);
});

test.each([
  ['none', 699, false, 'none'],
  ['none', 700, false, 'drop-bodies'],
  ['none', 0, true, 'drop-bodies'],
  ['none', 850, false, 'drop-details'],
  ['none', 950, false, 'count-only'],
  ['count-only', 901, false, 'count-only'],
  ['count-only', 899, false, 'drop-details'],
  ['drop-details', 801, false, 'drop-details'],
  ['drop-details', 799, false, 'drop-bodies'],
  ['drop-bodies', 651, false, 'drop-bodies'],
  ['drop-bodies', 649, false, 'none'],
  ['drop-bodies', 649, true, 'drop-bodies'],
] as const)('after %s, %i of 1000 bytes (disk low: %s) are %s', (before, bytes, isDiskLow, step) => {
  expect(judgePressure(bytes, 1000, isDiskLow, before)).toBe(step);
});

test('from 70 % bodies are dropped, from 85 % records are short, from 95 % they are lost and counted', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', maxBytes: 15_000, log: quietLog() });
  // What is written while the first measurement runs counts twice for a moment, and these steps are small.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const results: boolean[] = [];
  for (let number = 0; number < 24; number += 1) {
    const bodies = [callBody(number, 'request', Buffer.alloc(100))];
    results.push(await kept((done) => spool.end(callBegin(number), callEnd(number), bodies, done)));
  }
  await spool.close();
  const { entries } = await openSpoolReader(dir, SPOOL_START).read(LIMITS, true);
  const ends = entries.flatMap(({ entry }) => (entry.type === 'end' ? [entry.end] : []));
  const withBody = entries.filter(({ entry }) => entry.type === 'body').length;
  const lost = results.filter((result) => !result).length;
  expect(ends.length).toBe(24 - lost);
  const short = ends.filter((end) => end.flags.includes('compacted'));
  const flags = (index: number) => {
    if (index < withBody) return [];
    return index < ends.length - short.length ? ['body_dropped'] : ['compacted', 'body_dropped'];
  };
  expect(ends.map((end) => end.flags)).toEqual(ends.map((_, index) => flags(index)));
  expect(short[0]?.usage).toEqual({
    classes: { input: 100 + ends.length - short.length, cache_read: 20, output: 7 },
    reasoning: 3,
    native: {},
  });
  expect([withBody > 0, withBody < ends.length - short.length, short.length > 0, lost > 0]).toEqual(
    Array(4).fill(true),
  );
  const stats = {
    endsSpooled: 24 - lost,
    recordsLost: lost,
    framesLost: lost,
    compacted: short.length,
    isRefusing: true,
  };
  expect(spool.stats()).toMatchObject({ ...stats, bodiesDropped: 24 - withBody });
  const losses = await readLosses(dir);
  expect(losses.calls).toBe(lost);
});

test('a directory that cannot be written costs records, not the process, and works again by itself', async () => {
  writeFileSync(join(root, 'spool'), 'a file where the directory should be');
  const log = quietLog();
  const spool = openSpoolWriter({ dir, durability: 'process', maxBytes: 1e9, log });
  const begin = callBegin(1);
  expect(await kept((done) => spool.begin(begin, done))).toBe(false);
  expect(
    await kept((done) => spool.end(begin, callEnd(1), [callBody(1, 'request', Buffer.alloc(400_000))], done)),
  ).toBe(false);
  expect(spool.stats()).toMatchObject({ recordsLost: 1, framesLost: 2 });
  expect(log.messages.filter((message) => message === 'the spool could not be written')).toHaveLength(1);
  rmSync(join(root, 'spool'));
  await writeCall(spool, 2);
  await spool.close();
  expect((await openSpoolReader(dir, SPOOL_START).read(LIMITS, true)).entries).toHaveLength(2);
});

test('a record too large for a frame is lost and counted', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  const huge = callEnd(1, { errorMessage: 'x'.repeat(9 * 1024 * 1024) });
  expect(await kept((done) => spool.end(callBegin(1), huge, [], done))).toBe(false);
  expect(spool.stats().recordsLost).toBe(1);
  await spool.close();
});

test('after closing records are lost, and everything before is there', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  const pending = kept((done) => spool.begin(callBegin(1), done));
  await spool.close();
  expect(await pending).toBe(true);
  expect(await kept((done) => spool.begin(callBegin(2), done))).toBe(false);
  expect((await openSpoolReader(dir, SPOOL_START).read(LIMITS, true)).entries).toHaveLength(1);
});

test('a segment that was removed while it was written is noticed, and the next records go to a new one', async () => {
  const spool = openSpoolWriter({ dir, durability: 'process', log: quietLog() });
  await kept((done) => spool.begin(callBegin(1), done));
  rmSync(dir, { recursive: true });
  for (let tries = 0; tries < 100 && !existsSync(dir); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    await kept((done) => spool.begin(callBegin(2), done));
  }
  expect(await kept((done) => spool.begin(callBegin(3), done))).toBe(true);
  await spool.close();
  expect(readFileSync(join(dir, 'seg-00000002.log')).includes(callBegin(3).id)).toBe(true);
});
