/**
 * What the calls were whose ending could not be kept: counted durably, by minute, key and model, in a file that is laid
 * out in full before anything is lost, so that counting needs no room. Not the records themselves: those are gone. The
 * file's form is `losses-file.ts`.
 */
import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { CallBegin, CallEnd } from '../call-record.ts';
import { LossTable } from './loss-table.ts';
import { encodeLosses, HALF_BYTES, LOSSES_BYTES, LOSSES_NAME, type ParsedLosses, parseLosses } from './losses-file.ts';

export interface LossLedger {
  /** Counts a call. `end` is null when nothing is known of its ending. Never throws; the file follows within 250 ms. */
  count(begin: CallBegin, end: CallEnd | null): void;
  /** Makes the file when that was impossible before, or when it was removed. */
  keepReady(): void;
  close(): void;
}

const WRITE_INTERVAL_MS = 250;

/** Makes the file in the process directory `dir`, or counts in memory only as long as that is impossible. */
export function openLossLedger(dir: string): LossLedger {
  const path = join(dir, LOSSES_NAME);
  let fd: number | null = null;
  let table: LossTable | null = null;
  let sequence = 0;
  let isWritten = true;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  function layOut(): void {
    if (fd !== null && !wasRemoved(fd)) return;
    try {
      if (fd !== null) closeSync(fd);
      fd = null;
      // After closing the directory may have been removed on purpose.
      if (!isClosed) mkdirSync(dir, { recursive: true, mode: 0o700 });
      const before = parseLosses(readIfThere(path));
      const opened = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      fd = fill(path, opened, before);
      sequence = before?.sequence ?? 0;
      if (table === null) table = new LossTable(before?.losses.entries ?? []);
      else isWritten = false;
    } catch {
      // Tried again at the next tick; until then the counts are in memory, where the metrics find them.
    }
  }

  function write(): void {
    timer = null;
    layOut();
    if (fd === null || table === null || isWritten) return;
    try {
      sequence += 1;
      const bytes = encodeLosses(sequence, table);
      writeSync(fd, bytes, 0, bytes.length, (sequence % 2) * HALF_BYTES);
      isWritten = true;
      // Beside the work: the count is in the operating system, this is for the loss of power.
      if (!isClosed) fdatasync(fd, () => {});
    } catch {
      if (!isClosed) schedule();
    }
    if (isClosed) closeFile();
  }

  function closeFile(): void {
    if (fd !== null) closeSync(fd);
    fd = null;
  }

  function schedule(): void {
    timer ??= setTimeout(write, WRITE_INTERVAL_MS).unref();
  }

  layOut();
  return {
    count(begin, end) {
      table ??= new LossTable([]);
      table.add(begin, end);
      isWritten = false;
      // The first at once, those that follow it together.
      if (timer !== null) return;
      write();
      if (!isClosed) schedule();
    },
    keepReady() {
      layOut();
      if (!isWritten) schedule();
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      if (!isWritten) layOut();
      isClosed = true;
      write();
      closeFile();
    },
  };
}

/** Zeros up to the whole length; what is there stays. Nothing is left of a file that could not be filled. */
function fill(path: string, fd: number, before: ParsedLosses | null): number {
  try {
    if (before === null || fstatSync(fd).size < LOSSES_BYTES) {
      const zeros = Buffer.alloc(LOSSES_BYTES);
      if (writeSync(fd, zeros, 0, zeros.length, 0) < zeros.length) throw new Error('the file could not be filled');
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    if (before === null) unlinkSync(path);
    throw error;
  }
}

function wasRemoved(fd: number): boolean {
  return fstatSync(fd).nlink === 0;
}

function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.alloc(0);
  }
}
