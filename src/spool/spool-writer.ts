/**
 * Writes records to the segments of one process directory. `done` is called when the record is in the operating system
 * (with durability `power`: on the disk), or with `false` when it could not be kept: the gateway goes on, and the loss
 * is counted, in a ledger that outlives the process. It never throws and never waits for a reader. What is left out when
 * there is little room, and where endings go when there is none: docs/decisions/0022-a-full-disk.md.
 *
 * Group commit: what one turn of the event loop appends is written together at its end. A small group goes out by one
 * synchronous `write`, which costs a few microseconds; a large one goes through the thread pool, one at a time, while
 * the next group gathers, so that a throttled disk does not stop the event loop.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../call-record.ts';
import { BeginTexts } from './begin-texts.ts';
import { compactEnd } from './compact-end.ts';
import { FrameGroup } from './frame-group.ts';
import { openLossLedger } from './loss-ledger.ts';
import { openReserve, RESERVE_BYTES } from './reserve.ts';
import { openSegmentWriter } from './segment-writer.ts';
import { watchSpace } from './space-watch.ts';
import { NODE_FILES, type SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';
import { defaultMaxBytes, type SpaceStep } from './spool-space.ts';
import { takeStandby } from './standby.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Groups up to this size are written in the event loop. */
const SYNC_GROUP_BYTES = 256 * 1024;
/** Bytes that may wait for the disk; beyond half of it bodies are dropped, beyond all of it records are lost. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;
const SYNC_INTERVAL_MS = 200;
const SYNC_DIRTY_BYTES = 4 * 1024 * 1024;
/** How often a group is written, each time to another segment, when it cannot be made durable. */
const MAX_DURABLE_TRIES = 2;

export interface SpoolWriterOptions {
  /** The process directory, `<data directory>/spool/<process name>`; made when missing. Its parent is the whole spool. */
  readonly dir: string;
  /** Where to find process directories that were laid out ahead; without it none is taken. */
  readonly standbyDir?: string;
  readonly segmentBytes?: number;
  /** Limit of the whole spool. Default: 4 GiB or 20 % of the file system, whichever is less. */
  readonly maxBytes?: number;
  readonly durability: 'process' | 'power';
  /** `closed`: a call without its begin is refused, so begins are kept as long as there is room for any record. */
  readonly onFull?: 'open' | 'closed';
  readonly spaceIntervalMs?: number;
  /** Room to put aside for a full disk; less on a small one. */
  readonly reserveBytes?: number;
  /** Default: the real ones. */
  readonly files?: SpoolFiles;
  readonly log: SpoolLog;
}

export interface SpoolStats {
  /** Of the whole spool, at most 2 s old plus what was appended since. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Segments opened by this writer. */
  readonly segments: number;
  readonly pendingBytes: number;
  /** Calls whose ending was kept. */
  readonly endsKept: number;
  /** Calls whose ending could not be kept. */
  readonly recordsLost: number;
  /** Frames of every type that could not be kept. */
  readonly framesLost: number;
  /** Frames that are in the operating system and could not be brought to the disk (durability `power`). */
  readonly framesUnsynced: number;
  readonly bodiesDropped: number;
  /** Calls whose begin was left out for want of space; their ending repeats it. */
  readonly beginsSkipped: number;
  /** Endings that were shortened for want of space. */
  readonly compacted: number;
  /** A call that begins now is not written down before its ending: there is no room, or writing has just failed. */
  readonly isRefusing: boolean;
  /** Room for endings is put aside for a full disk. */
  readonly hasReserve: boolean;
}

/** Told whether the record is kept. Called exactly once, never before the method has returned. */
export type SpoolDone = (kept: boolean) => void;

export interface SpoolWriter {
  begin(begin: CallBegin, done: SpoolDone): void;
  checkpoint(checkpoint: CallCheckpoint, done: SpoolDone): void;
  /** Writes the ending with its begin repeated and its bodies, all in one frame. Pass the object given to `begin`. */
  end(begin: CallBegin, end: CallEnd, bodies: readonly CallBody[], done: SpoolDone): void;
  /** Counts a call as lost whose ending could not be made. */
  giveUp(begin: CallBegin): void;
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
  /** Null for a checkpoint, which is not worth a second try. */
  readonly begin: CallBegin | null;
  /** Of an ending. */
  readonly end: CallEnd | null;
  /** Bodies in the frame. */
  readonly bodies: number;
  readonly done: SpoolDone;
}

export function openSpoolWriter(options: SpoolWriterOptions): SpoolWriter {
  const { dir, durability, log } = options;
  const files = options.files ?? NODE_FILES;
  if (options.standbyDir !== undefined) takeStandby(options.standbyDir, dir, files, log);
  const maxBytes = options.maxBytes ?? readDefaultMaxBytes(dir, log);
  const segments = openSegmentWriter({ dir, segmentBytes: options.segmentBytes ?? SEGMENT_BYTES, files, log });
  const reserve = openReserve(dir, options.reserveBytes ?? RESERVE_BYTES, files, log);
  const ledger = openLossLedger(dir);
  const beginTexts = new BeginTexts();

  // The group that gathers; while one is on its way to the disk its buffer is not touched, and the other one gathers.
  let group = new FrameGroup();
  let spare = new FrameGroup();
  let records: PendingRecord[] = [];
  let writingBytes = 0;
  let isScheduled = false;
  let isWriting = false;
  let isClosed = false;
  /** The last group was lost. */
  let isFailing = false;
  const idleWaiters: (() => void)[] = [];

  let dirtyBytes = 0;
  let isSyncing = false;
  const counts = {
    endsKept: 0,
    recordsLost: 0,
    framesLost: 0,
    framesUnsynced: 0,
    bodiesDropped: 0,
    beginsSkipped: 0,
    compacted: 0,
  };

  const space = watchSpace({
    spoolDir: dirname(dir),
    maxBytes,
    log,
    ...(options.spaceIntervalMs === undefined ? {} : { intervalMs: options.spaceIntervalMs }),
    onTick: (reading) => {
      if (isClosed) return;
      if (!isWriting) segments.checkPresence();
      ledger.keepReady();
      if (reading !== null) void reserve.keepReady(reading); // It logs its own failure.
    },
  });

  function lose(lost: readonly PendingRecord[]): void {
    counts.framesLost += lost.length;
    for (const { begin, end } of lost) {
      if (begin === null || end === null) continue;
      counts.recordsLost += 1;
      ledger.count(begin, end);
    }
    settle(lost, false);
  }

  function keep(kept: readonly PendingRecord[], isDurable: boolean): void {
    if (!isDurable) counts.framesUnsynced += kept.length;
    for (const { end } of kept) if (end !== null) counts.endsKept += 1;
    settle(kept, isDurable);
  }

  function settle(settled: readonly PendingRecord[], kept: boolean): void {
    for (const record of settled) {
      try {
        record.done(kept);
      } catch (error) {
        log.error({ err: error }, 'a callback of the spool failed');
      }
    }
  }

  /** Takes a record that was laid out from `from` on. One that has no place is lost, not thrown. */
  function append(record: PendingRecord, from: number, hasPlace: boolean): void {
    if (isClosed || !hasPlace || pendingBytes() > MAX_PENDING_BYTES) {
      group.truncate(from);
      setImmediate(lose, [record]);
      return;
    }
    records.push(record);
    schedule();
  }

  /** Bytes that are not on the disk yet. */
  function pendingBytes(): number {
    return group.length + writingBytes;
  }

  function step(): SpaceStep {
    return space.step(pendingBytes());
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
    if (reserve.isInUse()) writeInReserve(written);
    else writeSegment(written, 1);
  }

  function writeSegment(written: WrittenGroup, tries: number): void {
    if (written.bytes <= SYNC_GROUP_BYTES) afterWrite(written, segments.writeSync(written.frames.bytes), tries);
    else segments.write(written.frames.bytes, (kept) => afterWrite(written, kept, tries));
  }

  function afterWrite(written: WrittenGroup, kept: boolean, tries: number): void {
    if (!kept) {
      // At a second try the records are in the segment that could not be synced: not safe, and not lost either.
      if (tries > 1) finishGroup(written, written.records, [], false);
      else writeInReserve(written);
      return;
    }
    space.add(written.bytes);
    if (durability === 'power') {
      segments.sync((synced) => {
        if (synced || tries >= MAX_DURABLE_TRIES) finishGroup(written, written.records, [], synced);
        else writeSegment(written, tries + 1);
      });
    } else {
      dirtyBytes += written.bytes;
      finishGroup(written, written.records, [], true);
      if (dirtyBytes >= SYNC_DIRTY_BYTES) syncInBackground();
    }
  }

  /** Begins, and endings in their short form, each for itself: one that has no room leaves the others theirs. */
  function writeInReserve(written: WrittenGroup): void {
    const kept: PendingRecord[] = [];
    const lost: PendingRecord[] = [];
    const { frames } = written;
    let hasSegments = true;
    for (const record of written.records) {
      frames.clear();
      if (!layOutShort(frames, record)) {
        lost.push(record);
        continue;
      }
      const isInReserve = reserve.write(frames.bytes, segments.lastSegment());
      // There may be a little room where a whole group had none.
      if (!isInReserve && hasSegments) hasSegments = segments.writeSync(frames.bytes);
      if (isInReserve || hasSegments) kept.push(record);
      else lost.push(record);
    }
    if (durability === 'process') {
      if (kept.length > 0) dirtyBytes += 1;
      finishGroup(written, kept, lost, true);
      return;
    }
    reserve.sync((reserveSynced) =>
      segments.sync((synced) => finishGroup(written, kept, lost, reserveSynced && synced)),
    );
  }

  function layOutShort(frames: FrameGroup, { begin, end, bodies }: PendingRecord): boolean {
    if (begin === null) return false;
    if (end === null) return mayHoldBegins() && frames.addText('begin', JSON.stringify(begin));
    const short = compactEnd(end, bodies > 0);
    if (!frames.addEnd(JSON.stringify(begin), short, [])) return false;
    counts.bodiesDropped += bodies;
    if (short !== end) counts.compacted += 1;
    return true;
  }

  function finishGroup(
    written: WrittenGroup,
    kept: readonly PendingRecord[],
    lost: readonly PendingRecord[],
    isDurable: boolean,
  ): void {
    written.frames.clear();
    writingBytes = 0;
    isWriting = false;
    isFailing = lost.length > 0 || !isDurable;
    if (kept.length > 0) keep(kept, isDurable);
    if (lost.length > 0) {
      lose(lost);
      // A full disk is a reason to drop bodies at once.
      void space.measure(); // It logs its own failure.
    }
    schedule();
    if (records.length === 0) for (const wake of idleWaiters.splice(0)) wake();
  }

  function syncInBackground(): void {
    if (isSyncing || dirtyBytes === 0) return;
    isSyncing = true;
    dirtyBytes = 0;
    const written = reserve.isInUse() ? reserve : segments;
    written.sync(() => {
      isSyncing = false;
    });
  }

  const syncTimer = setInterval(syncInBackground, SYNC_INTERVAL_MS);
  syncTimer.unref();

  /** Lays out an ending: without its bodies, or in its short form, when there is no room for more. */
  function layOutEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    if (bodies.length === 0) return group.addEnd(beginText, end, bodies);
    let bytes = group.length + writingBytes;
    for (const body of bodies) bytes += body.bytes.length;
    const fits = bytes < MAX_PENDING_BYTES / 2 && space.hasRoomFor(bytes);
    if (fits && group.addEnd(beginText, end, bodies)) return true;
    counts.bodiesDropped += bodies.length;
    return group.addEnd(beginText, { ...end, flags: [...end.flags, 'body_dropped'] }, []);
  }

  /** The second half of the reserve is for endings alone. */
  function mayHoldBegins(): boolean {
    return !reserve.isInUse() || reserve.isHalfLeft();
  }

  /** Nothing but endings is written now. */
  function isShort(now: SpaceStep): boolean {
    return now === 'counting' || !mayHoldBegins();
  }

  return {
    begin(begin, done) {
      const now = step();
      if (isShort(now) || (now === 'compact' && begin.traceId === null && options.onFull !== 'closed')) {
        counts.beginsSkipped += 1;
        setImmediate(done, false);
        return;
      }
      const text = JSON.stringify(begin);
      beginTexts.add(begin, text);
      const from = group.length;
      append({ begin, end: null, bodies: 0, done }, from, group.addText('begin', text));
    },
    checkpoint(checkpoint, done) {
      if (isShort(step()) || reserve.isInUse()) {
        counts.framesLost += 1;
        setImmediate(done, false);
        return;
      }
      const from = group.length;
      const isLaidOut = group.addText('checkpoint', JSON.stringify(checkpoint));
      append({ begin: null, end: null, bodies: 0, done }, from, isLaidOut);
    },
    end(begin, end, bodies, done) {
      const text = beginTexts.take(begin) ?? JSON.stringify(begin);
      const from = group.length;
      const now = step();
      if (now === 'compact' || reserve.isInUse()) {
        const short = compactEnd(end, bodies.length > 0);
        if (short !== end) counts.compacted += 1;
        counts.bodiesDropped += bodies.length;
        append({ begin, end: short, bodies: 0, done }, from, group.addEnd(text, short, []) && now !== 'counting');
        return;
      }
      const dropped = counts.bodiesDropped;
      const isLaidOut = layOutEnd(text, end, bodies);
      const left = counts.bodiesDropped === dropped ? bodies.length : 0;
      append({ begin, end, bodies: left, done }, from, isLaidOut && now !== 'counting');
    },
    giveUp(begin) {
      beginTexts.take(begin);
      counts.recordsLost += 1;
      ledger.count(begin, null);
    },
    stats() {
      return {
        bytes: space.bytes(),
        maxBytes,
        segments: segments.opened(),
        pendingBytes: pendingBytes(),
        ...counts,
        isRefusing: isClosed || isFailing || isShort(step()),
        hasReserve: reserve.isReady(),
      };
    },
    async close() {
      clearInterval(syncTimer);
      space.stop();
      isClosed = true;
      if (records.length > 0 || isWriting) await new Promise<void>((wake) => idleWaiters.push(wake));
      await segments.close();
      await reserve.close();
      ledger.close();
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
