/** The spool's reader: frames among damage, in memory and across files, however they arrive. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { FRAME_MAGIC } from '../../../src/spool/frame.ts';
import { FrameGroup } from '../../../src/spool/frame-group.ts';
import { parseFrames } from '../../../src/spool/parse-frames.ts';
import { segmentName } from '../../../src/spool/segment-file.ts';
import { openSpoolReader } from '../../../src/spool/spool-reader.ts';
import type { CallBody } from '../../../src/vocabulary/call-record.ts';
import { callBegin, callBody, callCheckpoint, callEnd } from '../../support/call-fixtures.ts';
import { firstBodyFrame, firstEndFrame, firstFrame } from '../../support/first-spool-frames.ts';
import { type Cuts, cutInto, cuts, mutated, pick } from '../bytes.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';

const NO_LIMITS = { maxEnds: Number.POSITIVE_INFINITY, maxBytes: Number.POSITIVE_INFINITY };
const FEW = { maxEnds: 2, maxBytes: 2_000 };

function textFrame(type: 'begin' | 'checkpoint', value: unknown): Buffer {
  const group = new FrameGroup();
  group.addText(type, JSON.stringify(value));
  return Buffer.from(group.bytes);
}

function endFrame(number: number, bodies: readonly CallBody[]): Buffer {
  const group = new FrameGroup();
  group.addEnd(JSON.stringify(callBegin(number)), callEnd(number), bodies);
  return Buffer.from(group.bytes);
}

/** One whose bytes look like a frame of their own. */
const HOSTILE_BODY = callBody(3, 'response', textFrame('begin', callBegin(9)));
const FRAMES: readonly Buffer[] = [
  textFrame('begin', callBegin(1)),
  textFrame('checkpoint', callCheckpoint(1)),
  endFrame(1, []),
  endFrame(2, [callBody(2, 'request', Buffer.from('{}')), callBody(2, 'response', Buffer.alloc(900, 'x'))]),
  endFrame(3, [HOSTILE_BODY]),
  firstFrame('begin', JSON.stringify(callBegin(4))),
  firstBodyFrame(callBody(4, 'response', Buffer.from('a body'))),
  firstEndFrame(callBegin(4), callEnd(4)),
];
const TOKENS = [FRAME_MAGIC, FRAME_MAGIC.subarray(0, 3), Buffer.alloc(16), Buffer.alloc(600), Buffer.from([0xf5])];

interface Piece {
  readonly bytes: Buffer;
  readonly isWhole: boolean;
}

const whole = fc.nat(1_000).map((number): Piece => ({ bytes: pick(FRAMES, number) ?? FRAME_MAGIC, isWhole: true }));
const damaged = mutated(FRAMES, TOKENS).map((bytes): Piece => ({ bytes, isWhole: false }));
const noise = fc.uint8Array({ maxLength: 40 }).map((bytes): Piece => ({ bytes: Buffer.from(bytes), isWhole: false }));
const segment = fc.array(fc.oneof({ arbitrary: whole, weight: 3 }, damaged, noise), { maxLength: 7 });

const toBytes = (pieces: readonly Piece[]): Buffer => Buffer.concat(pieces.map(({ bytes }) => bytes));

/** Zeros at the end may be room that was never written, which is no damage. */
function trailingZeros(bytes: Buffer): number {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.length - end;
}

function sumBytes(entries: readonly { readonly bytes: number }[]): number {
  return entries.reduce((sum, entry) => sum + entry.bytes, 0);
}

function checkParser([pieces, where]: readonly [readonly Piece[], Cuts]): void {
  const bytes = toBytes(pieces);
  const before = Buffer.from(bytes);
  const parsed = parseFrames(bytes, 0, true, NO_LIMITS);
  must(bytes.equals(before), 'the bytes are only read');
  must(parsed.consumed === bytes.length, 'a finished segment is read to its end');
  const left = bytes.length - sumBytes(parsed.entries) - parsed.corruptBytes;
  must(left === 0 || left <= trailingZeros(bytes), 'every byte is of a record, or damage, or never written');
  let at = 0;
  for (const { bytes: piece, isWhole } of pieces) {
    at += piece.length;
    const isFound = parsed.entries.some(({ end, bytes: length }) => end === at && length === piece.length);
    must(!isWhole || isFound, `the whole frame that ends at ${at} is found`);
  }
  // As it grows: what the reader does while the segment is still being written.
  const entries: unknown[] = [];
  let corruptBytes = 0;
  let grown = Buffer.alloc(0);
  let parsedTo = 0;
  const take = (isFinal: boolean): void => {
    const step = parseFrames(grown, parsedTo, isFinal, NO_LIMITS);
    must(step.consumed >= parsedTo && step.consumed <= grown.length, 'reading goes forward');
    entries.push(...step.entries);
    corruptBytes += step.corruptBytes;
    parsedTo = step.consumed;
  };
  for (const piece of where === 'every byte' && bytes.length > 600 ? [bytes] : cutInto(bytes, where)) {
    grown = Buffer.concat([grown, piece]);
    take(false);
  }
  take(true);
  mustEqual(entries, parsed.entries, 'records of a segment read at once and as it grows');
  const zeros = trailingZeros(bytes);
  must(Math.abs(corruptBytes - parsed.corruptBytes) <= zeros, 'damage is counted the same, but for zeros at the end');
}

const scratch = mkdtempSync(join(tmpdir(), 'tollgate-fuzz-'));
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));
let directories = 0;

async function checkReader(segments: readonly (readonly Piece[])[]): Promise<void> {
  directories += 1;
  const dir = join(scratch, String(directories));
  mkdirSync(dir);
  try {
    const files = segments.map(toBytes);
    for (const [index, bytes] of files.entries()) writeFileSync(join(dir, segmentName(index * 2 + 1)), bytes);
    const expected = files.flatMap((bytes) => parseFrames(bytes, 0, true, NO_LIMITS).entries.map(({ entry }) => entry));
    const corrupt = files.reduce((sum, bytes) => sum + parseFrames(bytes, 0, true, NO_LIMITS).corruptBytes, 0);
    // In small batches, and each from the cursor of the one before, as after a restart.
    const found: unknown[] = [];
    let corruptBytes = 0;
    let position = { segment: 1, offset: 0 };
    for (let batches = 0; ; batches += 1) {
      must(batches < 1_000, 'it ends');
      const batch = await openSpoolReader(dir, position).read(FEW, true);
      found.push(...batch.entries.map(({ entry }) => entry));
      corruptBytes += batch.corrupt.reduce((sum, { bytes }) => sum + bytes, 0);
      position = batch.after;
      if (batch.isDrained) break;
      must(batch.entries.length > 0, 'a batch holds something, unless it is the last');
    }
    mustEqual(found, expected, 'records read in batches and at once');
    const zeros = files.reduce((sum, bytes) => sum + trailingZeros(bytes), 0);
    must(Math.abs(corruptBytes - corrupt) <= zeros, 'damage is counted once, but for zeros at the end');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

export const SPOOL_TARGETS: readonly FuzzTarget[] = [
  createTarget('spool: frames', 1, fc.tuple(segment, cuts), checkParser),
  createTarget('spool: files', 0.2, fc.array(segment, { minLength: 1, maxLength: 3 }), checkReader),
];
