/**
 * Writes records to the segments of one process directory. `done` is called when the record is in the operating system
 * (with durability `power`: on the disk), or with `false` when it could not be kept: the gateway goes on, and the loss
 * is counted, in a ledger that outlives the process. It never throws and never waits for a reader. What is left out when
 * there is little room, and where endings go when there is none: docs/decisions/0022-a-full-disk.md. How records get
 * to the disk: `group-commit.ts`.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../call-record.ts';
import { BeginTexts } from './begin-texts.ts';
import { compactEnd } from './compact-end.ts';
import type { FrameGroup } from './frame-group.ts';
import { GroupCommit, type PendingRecord } from './group-commit.ts';
import { openLossLedger } from './loss-ledger.ts';
import { openReserve, RESERVE_BYTES } from './reserve.ts';
import { openSegmentWriter } from './segment-writer.ts';
import { watchSpace } from './space-watch.ts';
import { NODE_FILES, type SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';
import { defaultMaxBytes, type SpaceStep } from './spool-space.ts';
import { takeStandby } from './standby.ts';

const SEGMENT_BYTES = 16 * 1024 * 1024;
/** Bytes that may wait for the disk; beyond half of it bodies are dropped, beyond all of it records are lost. */
const MAX_PENDING_BYTES = 64 * 1024 * 1024;

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

export function openSpoolWriter(options: SpoolWriterOptions): SpoolWriter {
  const { dir, durability, log } = options;
  const files = options.files ?? NODE_FILES;
  if (options.standbyDir !== undefined) takeStandby(options.standbyDir, dir, files, log);
  const maxBytes = options.maxBytes ?? readDefaultMaxBytes(dir, log);
  const segments = openSegmentWriter({ dir, segmentBytes: options.segmentBytes ?? SEGMENT_BYTES, files, log });
  const reserve = openReserve(dir, options.reserveBytes ?? RESERVE_BYTES, files, log);
  const ledger = openLossLedger(dir);
  const beginTexts = new BeginTexts();

  let isClosed = false;
  const counts = {
    endsKept: 0,
    recordsLost: 0,
    framesLost: 0,
    framesUnsynced: 0,
    bodiesDropped: 0,
    beginsSkipped: 0,
    compacted: 0,
  };

  const commit = new GroupCommit({
    ...{ segments, reserve, durability, layOutShort },
    onWritten: (bytes) => space.add(bytes),
    onKept: keep,
    onLost: (lost) => {
      lose(lost);
      // A full disk is a reason to drop bodies at once.
      void space.measure(); // It logs its own failure.
    },
  });
  const space = watchSpace({
    spoolDir: dirname(dir),
    maxBytes,
    log,
    ...(options.spaceIntervalMs === undefined ? {} : { intervalMs: options.spaceIntervalMs }),
    onTick: (reading) => {
      if (isClosed) return;
      if (!commit.isWriting) segments.checkPresence();
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
    if (isClosed || !hasPlace || commit.pendingBytes > MAX_PENDING_BYTES) {
      commit.frames.truncate(from);
      setImmediate(lose, [record]);
      return;
    }
    commit.add(record);
  }

  function step(): SpaceStep {
    return space.step(commit.pendingBytes);
  }

  /** For the reserve: begins, and endings in their short form. */
  function layOutShort(frames: FrameGroup, { begin, end, bodies }: PendingRecord): boolean {
    if (begin === null) return false;
    if (end === null) return mayHoldBegins() && frames.addText('begin', JSON.stringify(begin));
    const short = compactEnd(end, bodies > 0);
    if (!frames.addEnd(JSON.stringify(begin), short, [])) return false;
    counts.bodiesDropped += bodies;
    if (short !== end) counts.compacted += 1;
    return true;
  }

  /** Lays out an ending: without its bodies, or in its short form, when there is no room for more. */
  function layOutEnd(beginText: string, end: CallEnd, bodies: readonly CallBody[]): boolean {
    if (bodies.length === 0) return commit.frames.addEnd(beginText, end, bodies);
    let bytes = commit.pendingBytes;
    for (const body of bodies) bytes += body.bytes.length;
    const fits = bytes < MAX_PENDING_BYTES / 2 && space.hasRoomFor(bytes);
    if (fits && commit.frames.addEnd(beginText, end, bodies)) return true;
    counts.bodiesDropped += bodies.length;
    return commit.frames.addEnd(beginText, { ...end, flags: [...end.flags, 'body_dropped'] }, []);
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
      const from = commit.frames.length;
      append({ begin, end: null, bodies: 0, done }, from, commit.frames.addText('begin', text));
    },
    checkpoint(checkpoint, done) {
      if (isShort(step()) || reserve.isInUse()) {
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
      const now = step();
      if (now === 'compact' || reserve.isInUse()) {
        const short = compactEnd(end, bodies.length > 0);
        if (short !== end) counts.compacted += 1;
        counts.bodiesDropped += bodies.length;
        append(
          { begin, end: short, bodies: 0, done },
          from,
          commit.frames.addEnd(text, short, []) && now !== 'counting',
        );
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
        pendingBytes: commit.pendingBytes,
        ...counts,
        isRefusing: isClosed || commit.isFailing || isShort(step()),
        hasReserve: reserve.isReady(),
      };
    },
    async close() {
      space.stop();
      isClosed = true;
      await commit.close();
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
