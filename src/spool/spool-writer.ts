/**
 * Writes records to the segments of one process directory. `done` is called when the record is in the operating system
 * (with durability `power`: on the disk), or with `false` when it could not be kept: the gateway goes on, and the loss
 * is counted. It never throws and never waits for a reader.
 *
 * Group commit: what one turn of the event loop appends is written together at its end. A small group goes out by one
 * synchronous `writev`, which costs a few microseconds; a large one goes through the thread pool, one at a time, while
 * the next group gathers, so that a throttled disk does not stop the event loop.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd } from '../call-record.ts';
import { encodeBodyFrame, encodeTextFrame } from './frame.ts';
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
const SYNC_DIRTY_BYTES = 256 * 1024;

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
}

/** Told whether the record is kept. Called exactly once, never before the method has returned. */
export type SpoolDone = (kept: boolean) => void;

export interface SpoolWriter {
  begin(begin: CallBegin, done: SpoolDone): void;
  checkpoint(checkpoint: CallCheckpoint, done: SpoolDone): void;
  /** Writes the bodies and, right after them, the ending with its begin repeated. Pass the object given to `begin`. */
  end(begin: CallBegin, end: CallEnd, bodies: readonly CallBody[], done: SpoolDone): void;
  stats(): SpoolStats;
  /** Writes what is pending, makes it durable and closes. Later appends are lost (and counted). */
  close(): Promise<void>;
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
  /** The text of a begin is made once and used again in its end. */
  const beginTexts = new WeakMap<CallBegin, string>();

  // The group that gathers, and whether one is on its way to the disk.
  let buffers: Buffer[] = [];
  let records: PendingRecord[] = [];
  let pendingBytes = 0;
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

  function append(isEnd: boolean, frames: readonly Buffer[], done: SpoolDone): void {
    const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
    const { recordsFit } = judgeSpace(spoolBytes + pendingBytes, maxBytes, isDiskLow);
    if (isClosed || !recordsFit || pendingBytes + bytes > MAX_PENDING_BYTES) {
      setImmediate(lose, [{ isEnd, done }]);
      return;
    }
    buffers.push(...frames);
    records.push({ isEnd, done });
    pendingBytes += bytes;
    schedule();
  }

  /** A record that cannot be made into a frame (too large) is lost, not thrown. */
  function appendText(
    type: 'begin' | 'checkpoint' | 'end',
    makeText: () => string,
    bodies: readonly Buffer[],
    done: SpoolDone,
  ): void {
    let frame: Buffer;
    try {
      frame = encodeTextFrame(type, makeText());
    } catch (error) {
      log.error({ err: error }, 'a record could not be written to the spool');
      setImmediate(lose, [{ isEnd: type === 'end', done }]);
      return;
    }
    append(type === 'end', [...bodies, frame], done);
  }

  function schedule(): void {
    if (isScheduled || isWriting || buffers.length === 0) return;
    isScheduled = true;
    setImmediate(writeGroup);
  }

  function writeGroup(): void {
    isScheduled = false;
    if (buffers.length === 0) return;
    const group = { buffers, records, bytes: pendingBytes };
    buffers = [];
    records = [];
    isWriting = true;
    if (group.bytes <= SYNC_GROUP_BYTES) {
      afterWrite(group, segments.writeSync(group.buffers, group.bytes));
    } else {
      segments.write(group.buffers, group.bytes, (kept) => afterWrite(group, kept));
    }
  }

  function afterWrite(
    group: { readonly records: readonly PendingRecord[]; readonly bytes: number },
    kept: boolean,
  ): void {
    if (kept && durability === 'power') {
      segments.sync((synced) => finishGroup(group, synced));
      return;
    }
    finishGroup(group, kept);
    if (kept) {
      dirtyBytes += group.bytes;
      if (dirtyBytes >= SYNC_DIRTY_BYTES) syncInBackground();
    }
  }

  function finishGroup(
    group: { readonly records: readonly PendingRecord[]; readonly bytes: number },
    kept: boolean,
  ): void {
    pendingBytes -= group.bytes;
    isWriting = false;
    if (kept) {
      spoolBytes += group.bytes;
      settle(group.records, true);
    } else {
      lose(group.records);
      // A full disk is a reason to drop bodies at once.
      void measureSpace();
    }
    schedule();
    if (buffers.length === 0) for (const wake of idleWaiters.splice(0)) wake();
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

  return {
    begin(begin, done) {
      appendText(
        'begin',
        () => {
          const text = JSON.stringify(begin);
          beginTexts.set(begin, text);
          return text;
        },
        [],
        done,
      );
    },
    checkpoint(checkpoint, done) {
      appendText('checkpoint', () => JSON.stringify(checkpoint), [], done);
    },
    end(begin, end, bodies, done) {
      const { bodiesFit } = judgeSpace(spoolBytes + pendingBytes, maxBytes, isDiskLow);
      const frames = bodiesFit && pendingBytes < MAX_PENDING_BYTES / 2 ? encodeBodies(bodies, log) : null;
      if (frames === null) lost.bodies += bodies.length;
      appendText(
        'end',
        () => {
          const kept: CallEnd =
            frames === null && bodies.length > 0 ? { ...end, flags: [...end.flags, 'body_dropped'] } : end;
          return `[${beginTexts.get(begin) ?? JSON.stringify(begin)},${JSON.stringify(kept)}]`;
        },
        frames ?? [],
        done,
      );
    },
    stats() {
      return {
        bytes: spoolBytes,
        maxBytes,
        segments: segments.opened(),
        pendingBytes,
        recordsLost: lost.records,
        framesLost: lost.frames,
        bodiesDropped: lost.bodies,
      };
    },
    async close() {
      clearInterval(syncTimer);
      clearInterval(spaceTimer);
      isClosed = true;
      if (buffers.length > 0 || isWriting) await new Promise<void>((wake) => idleWaiters.push(wake));
      await segments.close();
    },
  };
}

/** Null when a body cannot be made into a frame. */
function encodeBodies(bodies: readonly CallBody[], log: SpoolLog): readonly Buffer[] | null {
  try {
    return bodies.flatMap((body) => encodeBodyFrame(body));
  } catch (error) {
    log.warn({ err: error }, 'a body could not be written to the spool');
    return null;
  }
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
