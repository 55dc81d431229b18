/** Counts the endings behind a cursor by frame headers, within limits; checks no checksum. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpoolPosition } from './cursor.ts';
import { nullIfMissing } from './file-errors.ts';
import {
  FIRST_FRAME_VERSION,
  FRAME_HEADER_BYTES,
  FRAME_MAGIC,
  FRAME_TRAILER_BYTES,
  FRAME_TYPES,
  FRAME_VERSION,
  MAX_PAYLOAD_BYTES,
} from './frame.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

const CHUNK_BYTES = 1024 * 1024;
/** A spool at its usual limit has as many segments. */
const MAX_REMEMBERED = 4_096;
/** A record's call id stands near its start and contains the time. */
const ID_SEARCH_BYTES = 512;
const ID = /"id":"([0-9a-f]{8})-([0-9a-f]{4})-7/;

export interface WaitingEndings {
  readonly endings: number;
  /** When the first waiting call began; null when nothing waits. */
  readonly oldestMs: number | null;
  /** Bytes read for this count. */
  readonly bytes: number;
  /** False when a limit was reached. */
  readonly isWhole: boolean;
}

export interface CountLimits {
  readonly maxBytes: number;
  readonly deadlineMs: number;
}

/** A counted stretch of a segment. */
export interface Walked {
  readonly from: number;
  readonly to: number;
  readonly endings: number;
}

export interface WaitingCounter {
  /** Rejects when files cannot be read; removed ones count as stored. */
  count(dir: string, cursor: SpoolPosition, limits: CountLimits): Promise<WaitingEndings>;
}

export function createWaitingCounter(): WaitingCounter {
  const known = new Map<string, Walked>();

  return {
    async count(dir, cursor, limits) {
      let endings = 0;
      let bytes = 0;
      let oldestMs: number | null = null;
      let left = limits.maxBytes;
      for (const segment of readSegmentNumbers((await readdir(dir).catch(nullIfMissing)) ?? [])) {
        const path = join(dir, segmentName(segment));
        if (segment < cursor.segment) {
          known.delete(path);
          continue;
        }
        const from = segment === cursor.segment ? cursor.offset : 0;
        const remembered = known.get(path);
        const start = remembered?.from === from ? remembered : { from, to: from, endings: 0 };
        const { walked, isWhole } = await walkSegment(path, start, { ...limits, maxBytes: left });
        left -= walked.to - start.to;
        if (known.size < MAX_REMEMBERED || known.has(path)) known.set(path, walked);
        oldestMs ??= walked.to > from ? await readFirstTime(path, from) : null;
        endings += walked.endings;
        bytes += walked.to - start.to;
        if (!isWhole) return { endings, bytes, oldestMs, isWhole: false };
      }
      return { endings, bytes, oldestMs, isWhole: true };
    },
  };
}

/** Continues from `start`. `isWhole`: no limit was reached, so what follows `to` is no whole frame. */
export async function walkSegment(
  path: string,
  start: Walked,
  limits: CountLimits,
): Promise<{ readonly walked: Walked; readonly isWhole: boolean }> {
  const handle = await open(path, 'r').catch(nullIfMissing);
  if (handle === null) return { walked: start, isWhole: true };
  let { to, endings } = start;
  try {
    const { size } = await handle.stat();
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      if (to - start.to >= limits.maxBytes || performance.now() > limits.deadlineMs)
        return { walked: { ...start, to, endings }, isWhole: to >= size };
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, to);
      const walk = walkFrames(chunk.subarray(0, bytesRead), size - to);
      to += walk.bytes;
      endings += walk.endings;
      if (walk.bytes === 0) return { walked: { ...start, to, endings }, isWhole: true };
    }
  } finally {
    await handle.close();
  }
}

/** Counts whole frames; the last may end behind the bytes, up to `left`. Damage is skipped up to the next header. */
export function walkFrames(bytes: Buffer, left: number): { readonly bytes: number; readonly endings: number } {
  let at = 0;
  let endings = 0;
  while (at + FRAME_HEADER_BYTES <= bytes.length) {
    const frameBytes = readFrameBytes(bytes, at);
    if (frameBytes !== null) {
      if (at + frameBytes > left) break;
      if (bytes[at + 5] === FRAME_TYPES.end) endings += 1;
      at += frameBytes;
      continue;
    }
    // Zeros are not written yet; a frame's first byte is written last.
    if (bytes[at] === 0) break;
    const next = bytes.indexOf(FRAME_MAGIC, at + 1);
    at = next === -1 ? Math.max(at + 1, bytes.length - FRAME_MAGIC.length + 1) : next;
  }
  return { bytes: at, endings };
}

function readFrameBytes(bytes: Buffer, at: number): number | null {
  if (bytes.compare(FRAME_MAGIC, 0, FRAME_MAGIC.length, at, at + FRAME_MAGIC.length) !== 0) return null;
  const version = bytes[at + 4] ?? 0;
  const length = bytes.readUInt32BE(at + 6);
  if (version < FIRST_FRAME_VERSION || version > FRAME_VERSION || length > MAX_PAYLOAD_BYTES) return null;
  return FRAME_HEADER_BYTES + length + FRAME_TRAILER_BYTES;
}

async function readFirstTime(path: string, from: number): Promise<number | null> {
  const handle = await open(path, 'r').catch(nullIfMissing);
  if (handle === null) return null;
  try {
    const head = Buffer.alloc(FRAME_HEADER_BYTES + ID_SEARCH_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, from);
    const [, high, low] = ID.exec(head.toString('latin1', 0, bytesRead)) ?? [];
    return high === undefined || low === undefined ? null : Number.parseInt(high + low, 16);
  } finally {
    await handle.close();
  }
}
