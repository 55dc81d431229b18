import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { callBegin, callBody, callCheckpoint, callEnd } from '../../test/support/call-fixtures.ts';
import { firstBodyFrame, firstEndFrame, firstFrame } from '../../test/support/first-spool-frames.ts';
import type { CallBody } from '../vocabulary/call-record.ts';
import { FRAME_HEADER_BYTES, FRAME_MAGIC } from './frame.ts';
import { FrameGroup } from './frame-group.ts';
import { parseFrames } from './parse-frames.ts';

function textFrame(type: 'begin' | 'checkpoint', text: string): Buffer {
  const group = new FrameGroup();
  group.addText(type, text);
  return Buffer.from(group.bytes);
}

function endFrame(bodies: readonly CallBody[]): Buffer {
  const group = new FrameGroup();
  group.addEnd(JSON.stringify(callBegin(1)), callEnd(1), bodies);
  return Buffer.from(group.bytes);
}

/** A made-up magic in a body is nothing special. */
const BODY = callBody(1, 'response', Buffer.from('a body, with \xf5TG\xfa in it', 'latin1'));

const NOW = [
  textFrame('begin', JSON.stringify(callBegin(1))),
  textFrame('checkpoint', JSON.stringify(callCheckpoint(1))),
  endFrame([BODY]),
];
const FIRST = [
  firstFrame('begin', JSON.stringify(callBegin(1))),
  firstFrame('checkpoint', JSON.stringify(callCheckpoint(1))),
  firstBodyFrame(BODY),
  firstEndFrame(callBegin(1), callEnd(1)),
];

const NO_LIMITS = { maxEnds: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

test('a frame is magic, version, type, length, payload and checksum', () => {
  const frame = textFrame('begin', '{}');
  expect(frame.toString('latin1', 0, FRAME_HEADER_BYTES)).toBe('\xf5TG\xfa\x02\x01\x00\x00\x00\x02');
  expect(frame.toString('latin1', 10, 12)).toBe('{}');
  expect([frame.readUInt32BE(12), frame.length]).toEqual([crc32(frame.subarray(4, 12)), 16]);
});

describe.each([
  { version: 'as they are written', frames: NOW, recordsOf: [1, 1, 2] },
  { version: 'as the first release wrote them', frames: FIRST, recordsOf: [1, 1, 1, 1] },
])('frames $version', ({ frames, recordsOf }) => {
  const segment = Buffer.concat(frames);
  const starts = frames.map((_, index) => frames.slice(0, index).reduce((sum, frame) => sum + frame.length, 0));
  const recordsBefore = (frame: number) => recordsOf.slice(0, frame).reduce((sum, records) => sum + records, 0);

  test('whole ones come back as the records that were written', () => {
    const { entries, consumed, corruptBytes } = parseFrames(segment, 0, true, NO_LIMITS);
    expect(entries.map(({ entry }) => entry)).toEqual([
      { type: 'begin', begin: callBegin(1) },
      { type: 'checkpoint', checkpoint: callCheckpoint(1) },
      { type: 'body', body: BODY },
      { type: 'end', begin: callBegin(1), end: callEnd(1) },
    ]);
    expect([consumed, corruptBytes]).toEqual([segment.length, 0]);
  });

  test('a segment torn at any byte gives every whole record, and waits for the rest while its writer lives', () => {
    for (let cut = 0; cut <= segment.length; cut += 1) {
      const torn = segment.subarray(0, cut);
      const whole = starts.filter((start, index) => start + (frames[index]?.length ?? 0) <= cut).length;
      const from = starts[whole] ?? cut;
      const live = parseFrames(torn, 0, false, NO_LIMITS);
      expect([cut, live.entries.length, live.consumed, live.corruptBytes]).toEqual([
        cut,
        recordsBefore(whole),
        from,
        0,
      ]);
      // The rest arrives: reading goes on from where it stopped.
      expect(parseFrames(segment, live.consumed, false, NO_LIMITS).entries.length).toBe(4 - recordsBefore(whole));
      const final = parseFrames(torn, 0, true, NO_LIMITS);
      expect([cut, final.entries.length, final.consumed]).toEqual([cut, recordsBefore(whole), cut]);
      expect(final.corruptBytes).toBe(cut - from);
    }
  });

  test('any one flipped bit costs at most the frame it is in', () => {
    const all = parseFrames(segment, 0, true, NO_LIMITS).entries;
    for (let index = 0; index < segment.length; index += 1) {
      const damaged = Buffer.from(segment);
      damaged[index] = (damaged[index] ?? 0) ^ (1 << (index % 8));
      const parsed = parseFrames(damaged, 0, true, NO_LIMITS);
      const hit = starts.findLastIndex((start) => start <= index);
      const rest = all.filter((_, other) => other < recordsBefore(hit) || other >= recordsBefore(hit + 1));
      expect([index, parsed.entries]).toEqual([index, rest]);
      expect(parsed.corruptBytes).toBe(frames[hit]?.length);
    }
  });

  test('a batch ends at its limits, but never between a body and its ending', () => {
    const two = Buffer.concat([segment, segment]);
    expect(parseFrames(two, 0, true, { maxEnds: 1, maxBytes: 1e9 }).entries.length).toBe(4);
    const uptoBody = (starts[2] ?? 0) + 1;
    const parsed = parseFrames(two, 0, true, { maxEnds: 9, maxBytes: uptoBody });
    expect(parsed.entries.map(({ entry }) => entry.type)).toEqual(['begin', 'checkpoint', 'body', 'end']);
  });
});

test('any bytes are read to their end, and everything is either a record or counted as damage', () => {
  const piece = fc.oneof(
    fc.constantFrom(...NOW, ...FIRST),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(FRAME_MAGIC, FRAME_MAGIC.subarray(0, 2), Buffer.alloc(20), Buffer.concat(NOW).subarray(5, 300)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const bytes = Buffer.concat([...pieces, Buffer.from([1])]);
      const parsed = parseFrames(bytes, 0, true, NO_LIMITS);
      const read = parsed.entries.reduce((sum, entry) => sum + entry.bytes, 0);
      expect(parsed.consumed).toBe(bytes.length);
      expect(read + parsed.corruptBytes).toBe(bytes.length);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('zeros where a record should begin are not written yet; at the end of a file they are no damage', () => {
  const frame = textFrame('begin', JSON.stringify(callBegin(1)));
  const room = Buffer.alloc(4000);
  const live = parseFrames(Buffer.concat([frame, room]), 0, false, NO_LIMITS);
  expect(live).toMatchObject({ consumed: frame.length, corruptBytes: 0, isUnwritten: true });
  const over = parseFrames(Buffer.concat([frame, room]), 0, true, NO_LIMITS);
  expect(over).toMatchObject({ consumed: frame.length + 4000, corruptBytes: 0, isUnwritten: false });
  // A group of which the first byte, the last to be written, is missing: what is whole in it counts.
  const torn = Buffer.concat([frame, frame, frame.subarray(0, 100), room]);
  torn[0] = 0;
  const read = parseFrames(torn, 0, true, NO_LIMITS);
  expect([read.entries.length, read.corruptBytes]).toEqual([1, frame.length + 100]);
});

test.each([
  ['version', 4],
  ['type', 5],
])('a record of an unknown %s is stepped over and counted', (_, at) => {
  const strange = textFrame('begin', '{}');
  strange[at] = 9;
  strange.writeUInt32BE(crc32(strange.subarray(4, 12)), 12);
  const parsed = parseFrames(Buffer.concat([strange, ...NOW]), 0, true, NO_LIMITS);
  expect([parsed.entries.length, parsed.corruptBytes]).toEqual([4, strange.length]);
});

test('an ending whose bodies are not as long as it says is stepped over and counted', () => {
  const group = new FrameGroup();
  group.addEnd(`${JSON.stringify(callBegin(1))},{"id":"x"},[{"bytes":9}]]`, callEnd(1), []);
  expect(parseFrames(Buffer.from(group.bytes), 0, true, NO_LIMITS)).toMatchObject({
    entries: [],
    corruptBytes: group.length,
  });
});
