/**
 * Writes records to the segments of one process directory. `done` is called when the record is in the operating system
 * (with durability `power`: on the disk), or with `false` when it could not be kept: the gateway goes on, and the loss
 * is counted. It never throws and never waits for a reader.
 *
 * Group commit: what one turn of the event loop appends is written together at its end. A small group goes out by one
 * synchronous `write`, which costs a few microseconds; a large one goes through the thread pool, one at a time, while
 * the next group gathers, so that a throttled disk does not stop the event loop.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../call-record.ts';
import { BeginTexts } from './begin-texts.ts';
import { FrameGroup } from './frame-group.ts';
import { openSegmentWriter } from './segment-writer.ts';
import type { SpoolLog } from './spool-log.ts';
import { defaultMaxBytes, judgeSpace, readSpace } from './spool-space.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Groups up to this size are written in the event loop. */
const SYNC_GROUP_BYTES = 256 * 1024;
/** Bytes that may wait for the disk; beyond half of it bodies are dropped, beyond all of it records are lost. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const SPACE_INTERVAL_MS = 2_000;
const SYNC_INTERVAL_MS = 200;
const SYNC_DIRTY_BYTES = 4 * 1024 * 1024;

export interface SpoolWriterOptions {
  /** The process directory, `<data directory>/spool/<process name>`; made when missing. Its parent is the whole spool. */
  readonly dir: string;
  readonly segmentBytes?: number;
  /** Limit of the whole spool. Default: 4 GiB or 20 % of the file system, whichever is less. */
  readonly maxBytes?: number;
  readonly durability: 'process' | 'power';
  readonly log: SpoolLog;
}

export interface SpoolStats {
  /** Of the whole spool, at most 2 s old plus what was appended since. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Segments opened by this writer. */
  readonly segments: number;
  readonly pendingBytes: number;
  /** Calls whose ending could not be kept. */
  readonly recordsLost: number;
  /** Frames of every type that could not be kept. */
  readonly framesLost: number;
  readonly bodiesDropped: number;
  /** Calls whose ending was kept. */
  readonly endsKept: number;
  /** Calls whose begin was left out for want of space; their ending repeats it. */
  readonly beginsSkipped: number;
  /** Endings that were shortened for want of space. */
  readonly compacted: number;
  /** Records are given up, not tried: the spool has no room, or could not be written a moment ago. */
  readonly isRefusing: boolean;
}

/** Told whether the record is kept. Called exactly once, never before the method has returned. */
export type SpoolDone = (kept: boolean) => void;

export interface SpoolWriter {
  begin(begin: CallBegin, done: SpoolDone): void;
  checkpoint(checkpoint: CallCheckpoint, done: SpoolDone): void;
  /** Writes the ending with its begin repeated and its bodies, all in one frame. Pass the object given to `begin`. */
  end(begin: CallBegin, end: CallEnd, bodies: readonly CallBody[], done: SpoolDone): void;
  stats(): SpoolStats;
  /** Writes what is pending, makes it durable and closes. Later appends are lost (and counted). */
  close(): Promise<void>;
}

interface WrittenGroup {
  readonly frames: FrameGroup;
  readonly records: readonly PendingRecord[];
  readonly bytes: number;
}

interface PendingRecord {
  readonly isEnd: boolean;
  readonly done: SpoolDone;
}

export function openSpoolWriter(options: SpoolWriterOptions): SpoolWriter {
  const { dir, durability, log } = options;
  const spoolDir = dirname(dir);
  const maxBytes = options.maxBytes ?? readDefaultMaxBytes(dir, log);
  const segments = openSegmentWriter({ dir, segmentBytes: options.segmentBytes ?? SEGMENT_BYTES, log });
  const beginTexts = new BeginTexts();

  // The group that gathers; while one is on its way to the disk its buffer is not touched, and the other one gathers.
  let group = new FrameGroup();
  let spare = new FrameGroup();
  let records: PendingRecord[] = [];
  let writingBytes = 0;
  let isScheduled = false;
  let isWriting = false;
  let isClosed = false;
  const idleWaiters: (() => void)[] = [];

  let spoolBytes = 0;
  let isDiskLow = false;
  let isMeasuring = false;
  let dirtyBytes = 0;
  let isSyncing = false;
  const lost = { records: 0, frames: 0, bodies: 0 };

  function lose(group: readonly PendingRecord[]): void {
    lost.frames += group.length;
    for (const record of group) if (record.isEnd) lost.records += 1;
    settle(group, false);
  }

  function settle(group: readonly PendingRecord[], kept: boolean): void {
    for (const record of group) {
      try {
        record.done(kept);
      } catch (error) {
        log.error({ err: error }, 'a callback of the spool failed');
      }
    }
  }

  /** Takes a record that was laid out from `from` on. One that does not fit is lost, not thrown. */
  function append(isEnd: boolean, from: number, isLaidOut: boolean, done: SpoolDone): void {
    const { recordsFit } = judgeSpace(spoolBytes + pendingBytes(), maxBytes, isDiskLow);
    if (isClosed || !recordsFit || !isLaidOut || pendingBytes() > MAX_PENDING_BYTES) {
      group.truncate(from);
      setImmediate(lose, [{ isEnd, done }]);
      return;
    }
    records.push({ isEnd, done });
    schedule();
  }

  /** Bytes that are not on the disk yet. */
  function pendingBytes(): number {
    return group.length + writingBytes;
  }

  function schedule(): void {
    if (isScheduled || isWriting || records.length === 0) return;
    isScheduled = true;
    setImmediate(writeGroup);
  }

  function writeGroup(): void {
    isScheduled = false;
    if (records.length === 0) return;
    const written = { frames: group, records, bytes: group.length };
    group = spare;
    spare = written.frames;
    records = [];
    writingBytes = written.bytes;
    isWriting = true;
    if (written.bytes <= SYNC_GROUP_BYTES) afterWrite(written, segments.writeSync(written.frames.bytes));
    else segments.write(written.frames.bytes, (kept) => afterWrite(written, kept));
  }

  function afterWrite(written: WrittenGroup, kept: boolean): void {
    if (kept && durability === 'power') {
      segments.sync((synced) => finishGroup(written, synced));
      return;
    }
    finishGroup(written, kept);
    if (kept) {
      dirtyBytes += written.bytes;
      if (dirtyBytes >= SYNC_DIRTY_BYTES) syncInBackground();
    }
  }

  function finishGroup(written: WrittenGroup, kept: boolean): void {
    written.frames.clear();
    writingBytes = 0;
    isWriting = false;
    if (kept) {
      spoolBytes += written.bytes;
      settle(written.records, true);
    } else {
      lose(written.records);
      // A full disk is a reason to drop bodies at once.
      void measureSpace();
    }
    schedule();
    if (records.length === 0) for (const wake of idleWaiters.splice(0)) wake();
  }

  function syncInBackground(): void {
    if (isSyncing || dirtyBytes === 0) return;
    isSyncing = true;
    dirtyBytes = 0;
    segments.sync(() => {
      isSyncing = false;
    });
  }

  async function measureSpace(): Promise<void> {
    if (isMeasuring) return;
    isMeasuring = true;
    if (!isWriting) segments.checkPresence();
    try {
      const space = await readSpace(spoolDir);
      spoolBytes = space.bytes;
      isDiskLow = space.isDiskLow;
    } catch (error) {
      log.warn({ err: error, spoolDir }, 'the size of the spool could not be measured');
    } finally {
      isMeasuring = false;
    }
  }

  const syncTimer = setInterval(syncInBackground, SYNC_INTERVAL_MS);
  const spaceTimer = setInterval(() => void measureSpace(), SPACE_INTERVAL_MS);
  syncTimer.unref();
  spaceTimer.unref();
  void measureSpace();

  function bodiesFit(bodies: readonly CallBody[]): boolean {
    let bytes = group.length + writingBytes;
    for (const body of bodies) bytes += body.bytes.length;
    return bytes < MAX_PENDING_BYTES / 2 && judgeSpace(spoolBytes + bytes, maxBytes, isDiskLow).bodiesFit;
  }

  /** Lays out an ending, without its bodies when there is no room for them. */
  function layOutEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    if (bodies.length === 0) return group.addEnd(beginText, end, bodies);
    if (bodiesFit(bodies) && group.addEnd(beginText, end, bodies)) return true;
    lost.bodies += bodies.length;
    return group.addEnd(beginText, { ...end, flags: [...end.flags, 'body_dropped'] }, []);
  }

  return {
    begin(begin, done) {
      const text = JSON.stringify(begin);
      beginTexts.add(begin, text);
      const from = group.length;
      append(false, from, group.addText('begin', text), done);
    },
    checkpoint(checkpoint, done) {
      const from = group.length;
      append(false, from, group.addText('checkpoint', JSON.stringify(checkpoint)), done);
    },
    end(begin, end, bodies, done) {
      const text = beginTexts.take(begin) ?? JSON.stringify(begin);
      const from = group.length;
      append(true, from, layOutEnd(text, end, bodies), done);
    },
    stats() {
      return {
        bytes: spoolBytes,
        maxBytes,
        segments: segments.opened(),
        pendingBytes: pendingBytes(),
        recordsLost: lost.records,
        framesLost: lost.frames,
        bodiesDropped: lost.bodies,
        endsKept: 0,
        beginsSkipped: 0,
        compacted: 0,
        isRefusing: false,
      };
    },
    async close() {
      clearInterval(syncTimer);
      clearInterval(spaceTimer);
      isClosed = true;
      if (records.length > 0 || isWriting) await new Promise<void>((wake) => idleWaiters.push(wake));
      await segments.close();
    },
  };
}

function readDefaultMaxBytes(dir: string, log: SpoolLog): number {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    return defaultMaxBytes(dir);
  } catch (error) {
    log.error({ err: error, dir }, 'the spool directory cannot be used; records will be lost until it can');
    return Number.MAX_SAFE_INTEGER;
  }
}
