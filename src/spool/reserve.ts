/**
 * Room for endings on a full disk: a file of zeros that is laid out while there is space and, when nothing else can be
 * written, becomes the next segment and is written in place. So it needs no new block, even when somebody else on the
 * same disk takes every byte that is freed. It knows no records and does not judge when it is needed.
 */
import { join } from 'node:path';
import { readSegmentNumbers, segmentName } from './segment-file.ts';
import type { SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';

/** In a process directory. */
export const RESERVE_NAME = 'reserve.bin';

export const RESERVE_BYTES = 16 * 1024 * 1024;
const RESERVE_SHARE_OF_DISK = 0.02;
/** A new one is made when the disk has so many times its size: made and used up at once it would help nobody. */
const ROOM = 2;

export interface Reserve {
  /** Makes the file when there is none and the disk has room; one in use is left for it. In the background. */
  keepReady(disk: { readonly freeBytes: number; readonly diskBytes: number }): Promise<void>;
  /** The file is there, whole and unused. */
  isReady(): boolean;
  /** It is being written: the disk was full, or failing, and has not had room since. */
  isInUse(): boolean;
  /** Half of the one in use is left, which is for endings alone. */
  isHalfLeft(): boolean;
  /** Writes in place, in a segment above `lastSegment`. False: there is no reserve, or no room left in it. */
  write(bytes: Buffer, lastSegment: number): boolean;
  /** Makes everything written durable. */
  sync(done: (synced: boolean) => void): void;
  /** Gives back what was not used. */
  close(): Promise<void>;
}

interface FilledFile {
  readonly fd: number;
  readonly bytes: number;
  /** Of the segments that were there when it was laid out. */
  readonly highestSegment: number;
}

/** Of at most `maxBytes`; one that is found is used as it is. */
export function openReserve(dir: string, maxBytes: number, files: SpoolFiles, log: SpoolLog): Reserve {
  const path = join(dir, RESERVE_NAME);
  let spare: FilledFile | null = readFound();
  let used: FilledFile | null = null;
  let written = 0;
  let isMaking = false;
  let isClosed = false;

  function report(error: Error | null): void {
    if (error !== null) log.warn({ err: error, dir }, 'the reserve of the spool could not be handled');
  }

  function readFound(): FilledFile | null {
    try {
      const names = files.listNames(dir);
      const found = names.includes(RESERVE_NAME) ? files.openFilled(path) : null;
      return found === null ? null : { ...found, highestSegment: readSegmentNumbers(names).at(-1) ?? 0 };
    } catch {
      // There is no directory yet, or none that can be used: one is made when there is room.
      return null;
    }
  }

  async function make(bytes: number): Promise<void> {
    try {
      files.makeDirectory(dir);
      const names = files.listNames(dir);
      if (names.includes(RESERVE_NAME)) files.unlink(path);
      const fd = await files.createFilled(path, bytes);
      const made = { fd, bytes, highestSegment: readSegmentNumbers(names).at(-1) ?? 0 };
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
      // It was removed by somebody else.
    }
    files.close(file.fd, report);
  }

  function wasRemoved(file: FilledFile): boolean {
    try {
      return files.countLinks(file.fd) === 0;
    } catch {
      return false;
    }
  }

  /** The next segment is an ordinary one again. */
  function leave(): void {
    const file = used;
    used = null;
    if (file === null) return;
    try {
      files.truncate(file.fd, written);
    } catch (error) {
      // A reader takes the zeros at its end for what they are.
      log.warn({ err: error, dir }, 'the end of the reserve could not be cut off');
    }
    files.sync(file.fd, (error) => {
      report(error);
      files.close(file.fd, report);
    });
  }

  function take(lastSegment: number): FilledFile | null {
    if (spare === null) return null;
    const file = spare;
    const name = segmentName(Math.max(lastSegment, file.highestSegment) + 1);
    spare = null;
    try {
      files.rename(path, join(dir, name));
    } catch (error) {
      discard(file);
      throw error;
    }
    used = file;
    written = 0;
    log.error({ dir, segment: name }, 'the spool cannot be written; endings of calls go into its reserve');
    return file;
  }

  /** The first byte last: until it is there a reader finds a zero, which means that nothing was written yet. */
  function writeInPlace(file: FilledFile, bytes: Buffer): void {
    for (const [from, to] of [
      [1, bytes.length],
      [0, 1],
    ] as const) {
      const part = bytes.subarray(from, to);
      if (files.write(file.fd, part, written + from) !== part.length) throw new Error('a write in place was cut');
    }
  }

  return {
    async keepReady({ freeBytes, diskBytes }) {
      const bytes = Math.floor(Math.min(maxBytes, diskBytes * RESERVE_SHARE_OF_DISK));
      if (isMaking || isClosed) return;
      isMaking = true;
      if (spare !== null && wasRemoved(spare)) {
        files.close(spare.fd, report);
        spare = null;
      }
      if (spare === null && bytes > 0 && freeBytes >= bytes * ROOM) await make(bytes);
      isMaking = false;
      if (spare !== null && used !== null) {
        leave();
        log.warn({ dir }, 'the disk has room again; the spool is written as usual');
      }
    },
    isReady: () => spare !== null,
    isInUse: () => used !== null,
    isHalfLeft: () => used !== null && written < used.bytes / 2,
    write(bytes, lastSegment) {
      try {
        const file = used ?? take(lastSegment);
        if (file === null) return false;
        if (written + bytes.length <= file.bytes) {
          writeInPlace(file, bytes);
          written += bytes.length;
          return true;
        }
      } catch (error) {
        log.error({ err: error, dir }, 'the reserve of the spool could not be written');
      }
      leave();
      return false;
    },
    sync(done) {
      if (used === null) setImmediate(done, true);
      else files.sync(used.fd, (error) => done(error === null));
    },
    async close() {
      isClosed = true;
      leave();
      if (spare !== null) discard(spare);
      spare = null;
    },
  };
}
