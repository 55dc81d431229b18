/** Room for endings on a full disk: a file of zeros that becomes the next segment without needing a block. */
import { join } from 'node:path';
import { readSegmentNumbers, segmentName } from './segment-file.ts';
import type { SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';

/** In a process directory. */
export const EMERGENCY_NAME = 'reserve.bin';

export const EMERGENCY_BYTES = 16 * 1024 * 1024;
const SHARE_OF_DISK = 0.02;
/** Free room needed for a new one, as a multiple of its size. */
const ROOM = 2;

export interface EmergencySegment {
  /** Makes the file when there is room, and ends the use of the one in use. */
  keepReady(disk: { readonly freeBytes: number; readonly diskBytes: number }): Promise<void>;
  /** The file exists and is unused. */
  isReady(): boolean;
  /** It is being written. */
  isInUse(): boolean;
  /** Less than half is used; the rest is for endings alone. */
  isHalfLeft(): boolean;
  /** Writes in a segment above `lastSegment`. False without a file or room in it. */
  write(bytes: Buffer, lastSegment: number): boolean;
  /** Makes writes and the segment's name durable, also those of one that was left since the last time. */
  sync(done: (synced: boolean) => void): void;
  /** Frees what was not used. */
  close(): Promise<void>;
}

interface FilledFile {
  readonly fd: number;
  readonly bytes: number;
}

interface UsedFile extends FilledFile {
  isNameDurable: boolean;
}

/** Reserves at most `maxBytes`; an existing file is used as it is. */
export function openEmergencySegment(
  dir: string,
  maxBytes: number,
  files: SpoolFiles,
  log: SpoolLog,
): EmergencySegment {
  const path = join(dir, EMERGENCY_NAME);
  /** Above every segment that was there at first, and every one taken since. */
  let firstNumber = 1;
  let spare = findSpare();
  let used: UsedFile | null = null;
  /** Whether those that were left since the last `sync` are durable. */
  let left: Promise<boolean> = Promise.resolve(true);
  let written = 0;
  let isMaking = false;
  let isClosed = false;

  function findSpare(): FilledFile | null {
    try {
      const names = files.listNames(dir);
      firstNumber = (readSegmentNumbers(names).at(-1) ?? 0) + 1;
      return names.includes(EMERGENCY_NAME) ? files.openFilled(path) : null;
    } catch {
      // No usable directory yet; the file is made when there is room.
      return null;
    }
  }

  async function make(bytes: number): Promise<void> {
    try {
      files.makeDirectory(dir);
      if (files.listNames(dir).includes(EMERGENCY_NAME)) files.unlink(path);
      const made = { fd: await files.createFilled(path, bytes), bytes };
      if (isClosed) discard(made);
      else spare = made;
    } catch (error) {
      log.warn({ err: error, dir }, 'no room was put aside for a full disk');
    }
  }

  function discard(file: FilledFile): void {
    try {
      files.unlink(path);
    } catch {
      // Somebody else removed it.
    }
    files.close(file.fd, report);
  }

  function report(error: Error | null): void {
    if (error !== null) log.warn({ err: error, dir }, 'the emergency segment of the spool could not be handled');
  }

  /** Goes back to ordinary segments. */
  function leave(): void {
    if (used === null) return;
    const file = used;
    const { fd } = file;
    used = null;
    try {
      files.truncate(fd, written);
    } catch (error) {
      // Harmless: a reader takes zeros at the end as unwritten.
      log.warn({ err: error, dir }, 'the end of the emergency segment could not be cut off');
    }
    const before = left;
    left = makeDurable(file).then(async (isDurable) => {
      files.close(fd, report);
      return (await before) && isDurable;
    });
  }

  /** Never rejects. */
  function makeDurable(file: UsedFile): Promise<boolean> {
    return new Promise((resolve) => {
      const finish = (error: Error | null): void => {
        report(error);
        resolve(error === null);
      };
      files.sync(file.fd, (error) => {
        if (error !== null || file.isNameDurable) return finish(error);
        files.syncDirectory(dir, (directoryError) => {
          if (directoryError === null) file.isNameDurable = true;
          finish(directoryError);
        });
      });
    });
  }

  /** A rename would replace a segment, and `lastSegment` counts only those of the segment writer. */
  function findNumber(lastSegment: number): number {
    let number = Math.max(lastSegment + 1, firstNumber);
    while (files.isThere(join(dir, segmentName(number)))) number += 1;
    return number;
  }

  function take(lastSegment: number): UsedFile | null {
    if (spare === null) return null;
    const file = spare;
    spare = null;
    let segment: string;
    try {
      const number = findNumber(lastSegment);
      segment = segmentName(number);
      files.rename(path, join(dir, segment));
      firstNumber = number + 1;
    } catch (error) {
      discard(file);
      throw error;
    }
    log.error({ dir, segment }, 'the spool cannot be written; endings of calls go into its emergency segment');
    written = 0;
    return { ...file, isNameDurable: false };
  }

  return {
    async keepReady({ freeBytes, diskBytes }) {
      if (isMaking || isClosed) return;
      isMaking = true;
      const bytes = Math.floor(Math.min(maxBytes, diskBytes * SHARE_OF_DISK));
      if (spare === null && bytes > 0 && freeBytes >= bytes * ROOM) await make(bytes);
      isMaking = false;
      if (spare === null || used === null) return;
      leave();
      log.warn({ dir }, 'the disk has room again; the spool is written as usual');
    },
    isReady: () => spare !== null,
    isInUse: () => used !== null,
    isHalfLeft: () => used !== null && written < used.bytes / 2,
    write(bytes, lastSegment) {
      try {
        used ??= take(lastSegment);
        if (used === null) return false;
        if (written + bytes.length <= used.bytes) {
          const count = files.write(used.fd, bytes, written);
          if (count !== bytes.length) throw new Error('a write in place was cut');
          written += count;
          return true;
        }
      } catch (error) {
        log.error({ err: error, dir }, 'the emergency segment of the spool could not be written');
      }
      leave();
      return false;
    },
    sync(done) {
      const parts = [left, ...(used === null ? [] : [makeDurable(used)])];
      left = Promise.resolve(true);
      void Promise.all(parts).then((durable) => done(durable.every(Boolean))); // None rejects.
    },
    async close() {
      isClosed = true;
      leave();
      if (spare !== null) discard(spare);
      spare = null;
      await left;
    },
  };
}
