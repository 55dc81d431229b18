/** Appends groups of bytes to segments, one write at a time; a failed write is cut off and the segment left. */
import { createNextSegment, type OpenSegment } from './segment-file.ts';
import type { SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';

/** The second try uses a new segment. */
const MAX_TRIES = 2;
/** Interval between log lines while nothing can be written. */
const LOG_INTERVAL_MS = 10_000;

export interface SegmentWriter {
  /** True when all bytes are with the operating system. */
  writeSync(bytes: Buffer): boolean;
  write(bytes: Buffer, done: (isWritten: boolean) => void): void;
  /** Makes writes since the last time durable, and the segment's name; a segment that fails is left. */
  sync(done: (synced: boolean) => void): void;
  /** Leaves a segment whose file was removed; the next write opens a new one. */
  checkPresence(): void;
  /** Number of segments opened. */
  opened(): number;
  lastSegment(): number;
  close(): Promise<void>;
}

export interface SegmentWriterOptions {
  readonly dir: string;
  readonly segmentBytes: number;
  readonly files: SpoolFiles;
  readonly log: SpoolLog;
}

export function openSegmentWriter({ dir, segmentBytes, files, log }: SegmentWriterOptions): SegmentWriter {
  let current: OpenSegment | null = null;
  /** Bytes of whole groups in the segment. */
  let written = 0;
  let lastSegment = 0;
  let opened = 0;
  let isNameDurable = true;
  /** Bytes of `written` that are durable. */
  let synced = 0;
  /** A segment was left with writes that no `sync` has told of. */
  let hasLeftUnsynced = false;
  /** While a write is in the thread pool its file may not be closed, or the bytes could end in another one. */
  let isWriting = false;
  /** A reason to leave the segment after the current write. */
  let doubt: unknown = null;
  let lastLogMs = Number.NEGATIVE_INFINITY;

  function segmentFor(bytes: number): OpenSegment {
    if (current !== null && written > 0 && written + bytes > segmentBytes) retire(current);
    if (current === null) {
      current = createNextSegment(files, dir, lastSegment);
      lastSegment = current.segment;
      written = 0;
      synced = 0;
      opened += 1;
      isNameDurable = false;
    }
    return current;
  }

  /** Leaves a full segment and syncs it in the background. */
  function retire(segment: OpenSegment): void {
    current = null;
    if (written > synced) hasLeftUnsynced = true;
    files.sync(segment.fd, (error) => {
      report(error);
      files.close(segment.fd, report);
    });
  }

  /** Leaves a failed segment; an empty first one stays, to say that nothing was before (`CursorFile.isSuspect`). */
  function abandon(error: unknown): void {
    report(error);
    const segment = current;
    current = null;
    doubt = null;
    if (segment === null) return;
    if (written > synced) hasLeftUnsynced = true;
    const steps = [
      () => (written === 0 && segment.segment > 1 ? files.unlink(segment.path) : files.truncate(segment.fd, written)),
      () => files.closeAtOnce(segment.fd),
    ];
    for (const step of steps) {
      try {
        step();
      } catch (cleanupError) {
        report(cleanupError);
      }
    }
    // A missing number would look like a lost segment.
    if (written === 0 && lastSegment === segment.segment) lastSegment -= 1;
  }

  /** Does nothing for null. */
  function report(error: unknown): void {
    const nowMs = performance.now();
    if (error === null || nowMs - lastLogMs < LOG_INTERVAL_MS) return;
    lastLogMs = nowMs;
    log.error({ err: error, dir }, 'the spool could not be written');
  }

  function writeAsync(bytes: Buffer, tries: number, done: (isWritten: boolean) => void): void {
    const retry = (error: unknown) => {
      abandon(error);
      if (tries < MAX_TRIES) writeAsync(bytes, tries + 1, done);
      else done(false);
    };
    let fd: number;
    try {
      fd = segmentFor(bytes.length).fd;
    } catch (error) {
      // Never before the call returns.
      setImmediate(retry, error);
      return;
    }
    isWriting = true;
    files.writeInBackground(fd, bytes, (error, count) => {
      isWriting = false;
      if (error !== null) return retry(error);
      if (count !== bytes.length) return retry(shortWrite(count, bytes.length));
      written += bytes.length;
      if (doubt !== null) abandon(doubt);
      done(true);
    });
  }

  return {
    writeSync(bytes) {
      for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
        try {
          const count = files.write(segmentFor(bytes.length).fd, bytes, null);
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
      const bytes = written;
      const isAllHere = !hasLeftUnsynced;
      hasLeftUnsynced = false;
      if (segment === null) {
        setImmediate(done, isAllHere);
        return;
      }
      const fail = (error: Error & { code?: string }) => {
        // The segment may have been closed while the sync waited for a thread.
        if (current !== segment) return done(error.code === 'EBADF' && isAllHere);
        if (isWriting) doubt = error;
        else abandon(error);
        // This failure is told now.
        hasLeftUnsynced = false;
        done(false);
      };
      const succeed = () => {
        if (current === segment) synced = bytes;
        done(isAllHere);
      };
      files.sync(segment.fd, (error) => {
        if (error !== null) return fail(error);
        if (isNameDurable || current !== segment) return succeed();
        files.syncDirectory(dir, (directoryError) => {
          if (directoryError !== null) return fail(directoryError);
          if (current === segment) isNameDurable = true;
          succeed();
        });
      });
    },
    checkPresence() {
      if (current === null || isWriting) return;
      try {
        if (files.countLinks(current.fd) > 0) return;
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
    lastSegment: () => lastSegment,
    async close() {
      const segment = current;
      current = null;
      if (segment === null) return;
      await new Promise<void>((resolve) => {
        files.sync(segment.fd, (syncError) => {
          report(syncError);
          files.close(segment.fd, (closeError) => {
            report(closeError);
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
