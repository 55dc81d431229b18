/**
 * Appends groups of bytes to the current segment and moves to the next one when it is full, or when a write fails:
 * what stands behind a torn write would be hard to read. One write at a time (the caller's duty). Knows no records.
 */
import { close, closeSync, fdatasync, fstatSync, unlinkSync, write, writeSync } from 'node:fs';
import { createNextSegment, type OpenSegment, syncDirectory } from './segment-file.ts';
import type { SpoolLog } from './spool-log.ts';

/** A second try, in a new segment; after that the group is given up. */
const MAX_TRIES = 2;
/** While nothing can be written, one line in the log for this long. */
const LOG_INTERVAL_MS = 10_000;

export interface SegmentWriter {
  /** True when all bytes are in the operating system. */
  writeSync(bytes: Buffer): boolean;
  write(bytes: Buffer, done: (kept: boolean) => void): void;
  /** Makes everything written durable, the name of the segment included. */
  sync(done: (synced: boolean) => void): void;
  /** Leaves a segment whose file was removed: what is written to it would be lost. The next write opens a new one. */
  checkPresence(): void;
  /** How many segments were opened. */
  opened(): number;
  close(): Promise<void>;
}

export interface SegmentWriterOptions {
  readonly dir: string;
  readonly segmentBytes: number;
  readonly log: SpoolLog;
}

export function openSegmentWriter({ dir, segmentBytes, log }: SegmentWriterOptions): SegmentWriter {
  let current: OpenSegment | null = null;
  /** Bytes of whole groups in the current segment. */
  let written = 0;
  let lastSegment = 0;
  let opened = 0;
  let isNameDurable = true;
  let lastLogMs = Number.NEGATIVE_INFINITY;

  function segmentFor(bytes: number): OpenSegment {
    if (current !== null && written > 0 && written + bytes > segmentBytes) retire(current);
    if (current === null) {
      current = createNextSegment(dir, lastSegment);
      lastSegment = current.segment;
      written = 0;
      opened += 1;
      isNameDurable = false;
    }
    return current;
  }

  /** Leaves a full segment; its last bytes reach the disk in the background. */
  function retire(segment: OpenSegment): void {
    current = null;
    fdatasync(segment.fd, (syncError) => {
      if (syncError !== null) report(syncError);
      close(segment.fd, (closeError) => {
        if (closeError !== null) report(closeError);
      });
    });
  }

  /** Leaves a segment whose end is torn. One without a whole group is of no use to anyone. */
  function abandon(error: unknown): void {
    report(error);
    const segment = current;
    current = null;
    if (segment === null) return;
    try {
      closeSync(segment.fd);
      if (written === 0) unlinkSync(segment.path);
    } catch (cleanupError) {
      report(cleanupError);
    }
  }

  function report(error: unknown): void {
    const nowMs = performance.now();
    if (nowMs - lastLogMs < LOG_INTERVAL_MS) return;
    lastLogMs = nowMs;
    log.error({ err: error, dir }, 'the spool could not be written');
  }

  function writeAsync(bytes: Buffer, tries: number, done: (kept: boolean) => void): void {
    const retry = (error: unknown) => {
      abandon(error);
      if (tries < MAX_TRIES) writeAsync(bytes, tries + 1, done);
      else done(false);
    };
    let fd: number;
    try {
      fd = segmentFor(bytes.length).fd;
    } catch (error) {
      // Not in this turn: a callback that may come before the call returns is a trap.
      setImmediate(retry, error);
      return;
    }
    write(fd, bytes, (error, count) => {
      if (error !== null) retry(error);
      else if (count !== bytes.length) retry(shortWrite(count, bytes.length));
      else {
        written += bytes.length;
        done(true);
      }
    });
  }

  return {
    writeSync(bytes) {
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        try {
          const count = writeSync(segmentFor(bytes.length).fd, bytes);
          if (count !== bytes.length) throw shortWrite(count, bytes.length);
          written += bytes.length;
          return true;
        } catch (error) {
          abandon(error);
        }
      }
      return false;
    },
    write(bytes, done) {
      writeAsync(bytes, 1, done);
    },
    sync(done) {
      const segment = current;
      if (segment === null) {
        setImmediate(done, true);
        return;
      }
      fdatasync(segment.fd, (error) => {
        if (error !== null) {
          // The segment may have been retired or abandoned, and closed, while the sync waited for a thread.
          if (current !== segment) return done(error.code === 'EBADF');
          abandon(error);
          return done(false);
        }
        if (isNameDurable || current !== segment) return done(true);
        syncDirectory(dir).then(
          () => {
            if (current === segment) isNameDurable = true;
            done(true);
          },
          (syncError: unknown) => {
            report(syncError);
            done(false);
          },
        );
      });
    },
    checkPresence() {
      if (current === null) return;
      try {
        if (fstatSync(current.fd).nlink > 0) return;
      } catch (error) {
        report(error);
      }
      log.error(
        { dir },
        'a segment of the spool was removed while it was written; its records are lost, a new one begins',
      );
      retire(current);
    },
    opened: () => opened,
    async close() {
      const segment = current;
      current = null;
      if (segment === null) return;
      await new Promise<void>((resolve) => {
        fdatasync(segment.fd, (syncError) => {
          if (syncError !== null) report(syncError);
          close(segment.fd, (closeError) => {
            if (closeError !== null) report(closeError);
            resolve();
          });
        });
      });
    },
  };
}

function shortWrite(count: number, bytes: number): Error {
  return new Error(`only ${count} of ${bytes} bytes were written`);
}
