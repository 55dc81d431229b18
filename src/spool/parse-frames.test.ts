import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callBegin, callBody, callCheckpoint, callEnd } from '../../test/call-fixtures.ts';
import type { CallBody, SpoolEntry } from '../call-record.ts';
import { FRAME_HEADER_BYTES, FRAME_MAGIC } from './frame.ts';
import { FrameGroup } from './frame-group.ts';
import { parseFrames } from './parse-frames.ts';

function textFrame(type: SpoolEntry['type'], text: string): Buffer {
  const group = new FrameGroup();
  group.addText(type, text);
  return Buffer.from(group.bytes);
}

function bodyFrame(body: CallBody): Buffer {
  const group = new FrameGroup();
  group.addBody(body);
  return Buffer.from(group.bytes);
}

const NO_LIMITS = { maxEnds: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };

const FRAMES: readonly Buffer[] = [
  textFrame('begin', JSON.stringify(callBegin(1))),
  textFrame('checkpoint', JSON.stringify(callCheckpoint(1))),
  bodyFrame(callBody(1, 'response', Buffer.from('a body, with \xf5TG\xfa in it', 'latin1'))),
  textFrame('end', JSON.stringify([callBegin(1), callEnd(1)])),
];
const SEGMENT = Buffer.concat(FRAMES);
const STARTS = FRAMES.map((_, index) => FRAMES.slice(0, index).reduce((sum, frame) => sum + frame.length, 0));

test('a frame is magic, version, type, length, checksum and payload', () => {
  const frame = textFrame('end', '{}');
  expect(frame.toString('latin1', 0, 10)).toBe('\xf5TG\xfa\x01\x04\x00\x00\x00\x02');
  expect(frame.readUInt32BE(10)).toBe(crc32('{}', crc32(frame.subarray(4, 10))));
  expect(frame.toString('latin1', FRAME_HEADER_BYTES)).toBe('{}');
});

test('whole frames come back as the records that were written', () => {
  const { entries, consumed, corruptBytes } = parseFrames(SEGMENT, 0, true, NO_LIMITS);
  expect(entries.map(({ entry }) => entry)).toEqual([
    { type: 'begin', begin: callBegin(1) },
    { type: 'checkpoint', checkpoint: callCheckpoint(1) },
    { type: 'body', body: callBody(1, 'response', Buffer.from('a body, with \xf5TG\xfa in it', 'latin1')) },
    { type: 'end', begin: callBegin(1), end: callEnd(1) },
  ]);
  expect([consumed, corruptBytes]).toEqual([SEGMENT.length, 0]);
});

test('a segment torn at any byte gives every whole record, and waits for the rest while its writer lives', () => {
  for (let cut = 0; cut <= SEGMENT.length; cut += 1) {
    const torn = SEGMENT.subarray(0, cut);
    const whole = STARTS.filter((start, index) => start + (FRAMES[index]?.length ?? 0) <= cut).length;
    const live = parseFrames(torn, 0, false, NO_LIMITS);
    expect([cut, live.entries.length, live.consumed, live.corruptBytes]).toEqual([cut, whole, STARTS[whole] ?? cut, 0]);
    // The rest arrives: reading goes on from where it stopped.
    expect(parseFrames(SEGMENT, live.consumed, false, NO_LIMITS).entries.length).toBe(FRAMES.length - whole);
    const final = parseFrames(torn, 0, true, NO_LIMITS);
    expect([cut, final.entries.length, final.consumed, final.corruptBytes]).toEqual([
      cut,
      whole,
      cut,
      cut - (STARTS[whole] ?? cut),
    ]);
  }
});

test('any one flipped bit costs at most the record it is in', () => {
  for (let index = 0; index < SEGMENT.length; index += 1) {
    const damaged = Buffer.from(SEGMENT);
    damaged[index] = (damaged[index] ?? 0) ^ (1 << (index % 8));
    const parsed = parseFrames(damaged, 0, true, NO_LIMITS);
    const hit = STARTS.findLastIndex((start) => start <= index);
    const rest = parseFrames(SEGMENT, 0, true, NO_LIMITS).entries.filter((_, other) => other !== hit);
    expect([index, parsed.entries]).toEqual([index, rest]);
    expect(parsed.corruptBytes).toBe(FRAMES[hit]?.length);
  }
});

test('any bytes are read to their end, and everything is either a record or counted as damage', () => {
  const piece = fc.oneof(
    fc.constantFrom(...FRAMES),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(FRAME_MAGIC, FRAME_MAGIC.subarray(0, 2), Buffer.alloc(20), SEGMENT.subarray(5, 300)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const bytes = Buffer.concat(pieces);
      const parsed = parseFrames(bytes, 0, true, NO_LIMITS);
      const read = parsed.entries.reduce((sum, entry) => sum + entry.bytes, 0);
      expect(parsed.consumed).toBe(bytes.length);
      expect(read + parsed.corruptBytes).toBe(bytes.length);
    }),
    { seed: 7, numRuns: 300 },
  );
});

test('a record of a newer version or an unknown type is stepped over and counted', () => {
  const strange = Buffer.from(textFrame('end', '{}'));
  strange[5] = 9;
  strange.writeUInt32BE(crc32('{}', crc32(strange.subarray(4, 10))), 10);
  const parsed = parseFrames(Buffer.concat([strange, SEGMENT]), 0, true, NO_LIMITS);
  expect([parsed.entries.length, parsed.corruptBytes]).toEqual([4, strange.length]);
});

test('a batch ends at its limits, but never between a body and its ending', () => {
  const two = Buffer.concat([SEGMENT, SEGMENT]);
  expect(parseFrames(two, 0, true, { maxEnds: 1, maxBytes: 1e9 }).entries.length).toBe(4);
  const uptoBody = (STARTS[2] ?? 0) + 1;
  const parsed = parseFrames(two, 0, true, { maxEnds: 9, maxBytes: uptoBody });
  expect(parsed.entries.map(({ entry }) => entry.type)).toEqual(['begin', 'checkpoint', 'body', 'end']);
});
