/**
 * How full the spool is: the bytes of all process directories against the limit, and the room left on the file system.
 * It measures and answers; what is dropped when is decided by the writer.
 */
import { statfsSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';

const DEFAULT_MAX_BYTES = 4 * 1024 ** 3;
const DEFAULT_SHARE_OF_DISK = 0.2;
/** Bodies leave this much of the file system to the records (or a tenth of it, when it is small). */
const BODY_RESERVE_BYTES = 64 * 1024 ** 2;
const BODY_RESERVE_SHARE = 0.1;
const BODIES_UNTIL = 0.7;
const RECORDS_UNTIL = 0.95;

/** The default limit: 4 GiB or 20 % of the file system, whichever is less. `dir` must exist. */
export function defaultMaxBytes(dir: string): number {
  const disk = statfsSync(dir);
  return Math.min(DEFAULT_MAX_BYTES, Math.floor(disk.blocks * disk.bsize * DEFAULT_SHARE_OF_DISK));
}

export interface SpoolSpace {
  /** Of the whole spool, all processes. */
  readonly bytes: number;
  readonly bodiesFit: boolean;
  readonly recordsFit: boolean;
}

export function judgeSpace(bytes: number, maxBytes: number, isDiskLow: boolean): SpoolSpace {
  return {
    bytes,
    bodiesFit: bytes < maxBytes * BODIES_UNTIL && !isDiskLow,
    recordsFit: bytes < maxBytes * RECORDS_UNTIL,
  };
}

export interface SpaceReading {
  readonly bytes: number;
  readonly isDiskLow: boolean;
}

/** Adds up the files of all process directories below `spoolDir`. What vanishes while it looks counts as nothing. */
export async function readSpace(spoolDir: string): Promise<SpaceReading> {
  let bytes = 0;
  for (const directory of await readdir(spoolDir, { withFileTypes: true })) {
    if (!directory.isDirectory()) continue;
    const dir = join(spoolDir, directory.name);
    for (const name of await readdir(dir).catch(() => [])) {
      const file = await stat(join(dir, name)).catch(() => null);
      if (file?.isFile() === true) bytes += file.size;
    }
  }
  const disk = await statfs(spoolDir);
  const reserve = Math.min(BODY_RESERVE_BYTES, disk.blocks * disk.bsize * BODY_RESERVE_SHARE);
  return { bytes, isDiskLow: disk.bavail * disk.bsize < reserve };
}
