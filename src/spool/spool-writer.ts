/**
 * Writes records to a process directory. `done` says whether a record is with the operating system (`power`: on the
 * disk). Losses are counted in a file; it never throws or waits for a reader. Shortage of room:
 * docs/decisions/0022-a-full-disk.md.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../vocabulary/call-record.ts';
import { BeginTexts } from './begin-texts.ts';
import { compactEnd } from './compact-end.ts';
import { type DiskPressure, defaultMaxBytes, watchDisk } from './disk-space.ts';
import { EMERGENCY_BYTES, openEmergencySegment } from './emergency-segment.ts';
import type { FrameGroup } from './frame-group.ts';
import { GroupCommit, type PendingRecord } from './group-commit.ts';
import { openLossesFile } from './losses-file.ts';
import { takePrepared } from './prepared-directory.ts';
import { openSegmentWriter } from './segment-writer.ts';
import { NODE_FILES, type SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Bytes pending at most; beyond half of it bodies are dropped. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

export interface SpoolWriterOptions {
  /** The process directory, made when missing; its parent is the whole spool. */
  readonly dir: string;
  /** Where prepared directories are; without it none is taken. */
  readonly preparedDir?: string;
  readonly segmentBytes?: number;
  /** Limit of the whole spool. Default: 4 GiB or 20 % of the file system. */
  readonly maxBytes?: number;
  readonly durability: 'process' | 'power';
  /** `closed`: calls without a begin are refused, so begins are kept longest. */
  readonly onFull?: 'open' | 'closed';
  readonly spaceIntervalMs?: number;
  /** Room reserved for a full disk; less on a small one. */
  readonly emergencyBytes?: number;
  readonly files?: SpoolFiles;
  readonly log: SpoolLog;
}

export interface SpoolStats {
  /** At most 2 s old, plus later appends. */
  readonly bytes: number;
  readonly maxBytes: number;
  readonly segments: number;
  readonly pendingBytes: number;
  readonly endsSpooled: number;
  /** Calls whose ending was lost. */
  readonly recordsLost: number;
  /** Lost frames of every type. */
  readonly framesLost: number;
  /** Frames written but not synced (durability `power`). */
  readonly framesUnsynced: number;
  readonly bodiesDropped: number;
  /** Begins left out for want of room; the ending repeats them. */
  readonly beginsSkipped: number;
  /** Endings shortened for want of room. */
  readonly compacted: number;
  /** A new call's begin would not be written. */
  readonly isRefusing: boolean;
  readonly hasEmergencySegment: boolean;
}

/** Called exactly once, never before the method has returned. */
export type SpoolDone = (isSpooled: boolean) => void;

export interface SpoolWriter {
  begin(begin: CallBegin, done: SpoolDone): void;
  checkpoint(checkpoint: CallCheckpoint, done: SpoolDone): void;
  /** Writes the ending, its begin and its bodies in one frame. Pass the object given to `begin`. */
  end(begin: CallBegin, end: CallEnd, bodies: readonly CallBody[], done: SpoolDone): void;
  /** Counts a call as lost. */
  giveUp(begin: CallBegin): void;
  stats(): SpoolStats;
  /** Writes and syncs what is pending, then closes. Later records are lost and counted. */
  close(): Promise<void>;
}

export function openSpoolWriter(options: SpoolWriterOptions): SpoolWriter {
  const { dir, durability, log } = options;
  const files = options.files ?? NODE_FILES;
  if (options.preparedDir !== undefined) takePrepared(options.preparedDir, dir, files, log);
  const maxBytes = options.maxBytes ?? readDefaultMaxBytes(dir, log);
  const segments = openSegmentWriter({ dir, segmentBytes: options.segmentBytes ?? SEGMENT_BYTES, files, log });
  const emergency = openEmergencySegment(dir, options.emergencyBytes ?? EMERGENCY_BYTES, files, log);
  const losses = openLossesFile(dir);
  const beginTexts = new BeginTexts();

  let isClosed = false;
  const counts = {
    endsSpooled: 0,
    recordsLost: 0,
    framesLost: 0,
    framesUnsynced: 0,
    bodiesDropped: 0,
    beginsSkipped: 0,
    compacted: 0,
  };

  const commit = new GroupCommit({
    segments,
    emergency,
    durability,
    layOutShort,
    onWritten: (bytes) => disk.add(bytes),
    onSpooled: noteSpooled,
    onLost: (lost) => {
      noteLost(lost);
      // A full disk is a reason to drop bodies at once.
      void disk.measure(); // It logs its own failure.
    },
  });
  const disk = watchDisk({
    spoolDir: dirname(dir),
    maxBytes,
    intervalMs: options.spaceIntervalMs,
    log,
    onTick: (space) => {
      if (isClosed) return;
      if (!commit.isWriting) segments.checkPresence();
      losses.keepReady();
      if (space !== null) void emergency.keepReady(space); // It logs its own failure.
    },
  });

  function noteLost(lost: readonly PendingRecord[]): void {
    counts.framesLost += lost.length;
    for (const { begin, end } of lost) {
      if (begin === null || end === null) continue;
      counts.recordsLost += 1;
      losses.count(begin, end);
    }
    settle(lost, false);
  }

  function noteSpooled(spooled: readonly PendingRecord[], isDurable: boolean): void {
    if (!isDurable) counts.framesUnsynced += spooled.length;
    for (const { end } of spooled) if (end !== null) counts.endsSpooled += 1;
    settle(spooled, isDurable);
  }

  function settle(records: readonly PendingRecord[], isSpooled: boolean): void {
    for (const record of records) {
      try {
        record.done(isSpooled);
      } catch (error) {
        log.error({ err: error }, 'a callback of the spool failed');
      }
    }
  }

  /** Adds a record laid out from `from` on, or counts it as lost. */
  function append(record: PendingRecord, from: number, hasPlace: boolean): void {
    if (isClosed || !hasPlace || commit.pendingBytes > MAX_PENDING_BYTES) {
      commit.frames.truncate(from);
      setImmediate(noteLost, [record]);
      return;
    }
    commit.add(record);
  }

  function judgePressure(): DiskPressure {
    return disk.pressure(commit.pendingBytes);
  }

  /** For the emergency segment: begins, and short endings. */
  function layOutShort({ begin, end, bodies }: PendingRecord, frames: FrameGroup): boolean {
    if (begin === null) return false;
    const text = JSON.stringify(begin);
    if (end === null) return mayHoldBegins() && frames.addText('begin', text);
    return layOutShortEnd(text, end, bodies, frames);
  }

  function layOutShortEnd(beginText: string, end: CallEnd, bodies: number, frames = commit.frames): boolean {
    const short = compactEnd(end, bodies > 0);
    if (!frames.addEnd(beginText, short, [])) return false;
    counts.bodiesDropped += bodies;
    if (short !== end) counts.compacted += 1;
    return true;
  }

  /** Lays out an ending, without its bodies when there is no room. */
  function layOutEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    if (bodies.length === 0) return commit.frames.addEnd(beginText, end, bodies);
    let bytes = commit.pendingBytes;
    for (const body of bodies) bytes += body.bytes.length;
    const fits = bytes < MAX_PENDING_BYTES / 2 && disk.hasRoomFor(bytes);
    if (fits && commit.frames.addEnd(beginText, end, bodies)) return true;
    counts.bodiesDropped += bodies.length;
    return commit.frames.addEnd(beginText, { ...end, flags: [...end.flags, 'body_dropped'] }, []);
  }

  /** The second half of the emergency segment is for endings alone. */
  function mayHoldBegins(): boolean {
    return !emergency.isInUse() || emergency.isHalfLeft();
  }

  function isForEndsAlone(pressure: DiskPressure): boolean {
    return pressure === 'count-only' || !mayHoldBegins();
  }

  return {
    begin(begin, done) {
      const pressure = judgePressure();
      const isSkipped = pressure === 'drop-details' && begin.traceId === null && options.onFull !== 'closed';
      if (isSkipped || isForEndsAlone(pressure)) {
        counts.beginsSkipped += 1;
        setImmediate(done, false);
        return;
      }
      const text = JSON.stringify(begin);
      beginTexts.add(begin, text);
      const from = commit.frames.length;
      append({ begin, end: null, bodies: 0, done }, from, commit.frames.addText('begin', text));
    },
    checkpoint(checkpoint, done) {
      if (isForEndsAlone(judgePressure()) || emergency.isInUse()) {
        counts.framesLost += 1;
        setImmediate(done, false);
        return;
      }
      const from = commit.frames.length;
      const isLaidOut = commit.frames.addText('checkpoint', JSON.stringify(checkpoint));
      append({ begin: null, end: null, bodies: 0, done }, from, isLaidOut);
    },
    end(begin, end, bodies, done) {
      const text = beginTexts.take(begin) ?? JSON.stringify(begin);
      const from = commit.frames.length;
      const pressure = judgePressure();
      const isShort = pressure === 'drop-details' || emergency.isInUse();
      const dropped = counts.bodiesDropped;
      const isLaidOut = isShort ? layOutShortEnd(text, end, bodies.length) : layOutEnd(text, end, bodies);
      const left = counts.bodiesDropped === dropped ? bodies.length : 0;
      const written = isShort ? compactEnd(end, bodies.length > 0) : end;
      append({ begin, end: written, bodies: left, done }, from, isLaidOut && pressure !== 'count-only');
    },
    giveUp(begin) {
      beginTexts.take(begin);
      counts.recordsLost += 1;
      losses.count(begin, null);
    },
    stats() {
      return {
        bytes: disk.bytes(),
        maxBytes,
        segments: segments.opened(),
        pendingBytes: commit.pendingBytes,
        ...counts,
        isRefusing: isClosed || commit.isFailing || isForEndsAlone(judgePressure()),
        hasEmergencySegment: emergency.isReady(),
      };
    },
    async close() {
      disk.stop();
      isClosed = true;
      await commit.close();
      await segments.close();
      await emergency.close();
      losses.close();
    },
  };
}

function readDefaultMaxBytes(dir: string, log: SpoolLog): number {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return defaultMaxBytes(dir);
  } catch (error) {
    log.error({ err: error, dir }, 'the spool directory cannot be used; records will be lost until it can');
  }
  try {
    return defaultMaxBytes(dirname(dir));
  } catch {
    return Number.MAX_SAFE_INTEGER;
  }
}
