/** Reads a process directory across segments, also while it is written. Throws only file system errors. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { SpoolEntry } from '../vocabulary/call-record.ts';
import type { SpoolPosition } from './cursor.ts';
import { nullIfMissing } from './file-errors.ts';
import { type ParsedFrames, type ParseLimits, parseFrames } from './parse-frames.ts';
import { readSegmentNumbers, segmentName } from './segment-file.ts';

const CHUNK_BYTES = 1024 * 1024;
/** More bodies than this have lost their ending. */
const MAX_HELD_BODIES = 4;

export interface PositionedEntry {
  readonly entry: SpoolEntry;
  readonly bytes: number;
  /** The record's start. */
  readonly at: SpoolPosition;
}

export interface SpoolBatch {
  readonly entries: readonly PositionedEntry[];
  /** The cursor once these entries are stored. */
  readonly after: SpoolPosition;
  /** Skipped damage by segment. */
  readonly corrupt: readonly { readonly segment: number; readonly bytes: number }[];
  /** Nothing more is there now, or ever if the writer is dead. */
  readonly isDrained: boolean;
  /** Drained only up to apparent damage, which the next read skips if it is still there. */
  readonly isDoubtful: boolean;
}

export interface SpoolReader {
  /** The next entries in order, at least one unless drained. `isDead`: the writer is gone. */
  read(limits: ParseLimits, isDead: boolean): Promise<SpoolBatch>;
}

export function openSpoolReader(dir: string, from: SpoolPosition): SpoolReader {
  let segment = from.segment;
  /** Offset of `bytes` in the segment. */
  let start = from.offset;
  let bytes: Buffer = Buffer.alloc(0);
  let parsedTo = 0;
  /** Apparent damage of a live file, possibly a write in progress; skipped if unchanged at the next batch. */
  let doubted: SpoolPosition | null = null;
  /** Length of the unfinished frame at `parsedTo`, if known. */
  let needs = 0;
  /** Bodies held back until their ending comes. */
  let held: readonly PositionedEntry[] = [];

  /** Reads on; false at the end of the file. */
  async function readMore(): Promise<boolean> {
    const rest = bytes.subarray(parsedTo);
    const position = start + bytes.length;
    const handle = await open(join(dir, segmentName(segment)), 'r').catch(nullIfMissing);
    if (handle === null) return false;
    try {
      const { size } = await handle.stat();
      const wanted = Math.min(Math.max(CHUNK_BYTES, needs - rest.length), size - position);
      if (wanted < 0) {
        // A failed write was cut off.
        bytes = bytes.subarray(0, Math.max(parsedTo, size - start));
      }
      if (wanted <= 0) return false;
      const chunk = Buffer.allocUnsafe(rest.length + wanted);
      rest.copy(chunk);
      const { bytesRead } = await handle.read(chunk, rest.length, wanted, position);
      start += parsedTo;
      parsedTo = 0;
      bytes = chunk.subarray(0, rest.length + bytesRead);
      return bytesRead > 0;
    } finally {
      await handle.close();
    }
  }

  return {
    async read(limits, isDead) {
      const entries: PositionedEntry[] = [...held];
      const corrupt: { segment: number; bytes: number }[] = [];
      let ends = 0;
      let taken = held.reduce((sum, entry) => sum + entry.bytes, 0);
      let isDrained = false;
      let isDoubtful = false;
      while (!isFull()) {
        const { isUnwritten, looksDamaged } = parse(false);
        if (isFull()) break;
        // Checked before reading: once a later segment exists, this one is complete.
        const isFinal = isDead || (await readNextSegment(dir, segment)) !== null;
        if (isUnwritten) {
          // It may have been overwritten meanwhile.
          bytes = bytes.subarray(0, parsedTo);
          if (isFinal) while (await readMore());
        } else if (await readMore()) continue;
        if (!isFinal) {
          isDoubtful = looksDamaged;
          if (looksDamaged) doubted = { segment, offset: start + parsedTo };
          isDrained = true;
          break;
        }
        parse(true);
        if (parsedTo < bytes.length) break;
        const following = await readNextSegment(dir, segment);
        if (following === null) {
          isDrained = true;
          break;
        }
        segment = following;
        start = 0;
        bytes = Buffer.alloc(0);
        parsedTo = 0;
      }
      held = isDrained && isDead ? [] : takeTrailingBodies(entries);
      return { entries, after: held[0]?.at ?? { segment, offset: start + parsedTo }, corrupt, isDrained, isDoubtful };

      function isFull(): boolean {
        return ends >= limits.maxEnds || (taken >= limits.maxBytes && entries.at(-1)?.entry.type !== 'body');
      }

      function parse(isFinal: boolean): ParsedFrames {
        const left = {
          maxEnds: limits.maxEnds - ends,
          maxBytes: Math.max(1, limits.maxBytes - taken),
          ...(isDead ? {} : { damageKnownAt: doubted?.segment === segment ? doubted.offset - start : null }),
        };
        const parsed = parseFrames(bytes, parsedTo, isFinal, left);
        for (const entry of parsed.entries) {
          const at = { segment, offset: start + entry.end - entry.bytes };
          entries.push({ entry: entry.entry, bytes: entry.bytes, at });
          taken += entry.bytes;
          if (entry.entry.type === 'end') ends += 1;
        }
        if (parsed.corruptBytes > 0) corrupt.push({ segment, bytes: parsed.corruptBytes });
        parsedTo = parsed.consumed;
        needs = parsed.needs;
        return parsed;
      }
    },
  };
}

/** Removes and returns trailing bodies; none when they are too many for one call. */
function takeTrailingBodies(entries: PositionedEntry[]): readonly PositionedEntry[] {
  const count = entries.length - 1 - entries.findLastIndex(({ entry }) => entry.type !== 'body');
  return count === 0 || count > MAX_HELD_BODIES ? [] : entries.splice(-count);
}

/** The next segment number, or null. Numbers may be missing. */
async function readNextSegment(dir: string, segment: number): Promise<number | null> {
  const names = await readdir(dir).catch(nullIfMissing);
  return readSegmentNumbers(names ?? []).find((number) => number > segment) ?? null;
}
