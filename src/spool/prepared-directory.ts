/** Lays out process directories while the disk has room, for processes that start when it has none. */
import { close } from 'node:fs';
import { mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lowDiskBytes } from './disk-space.ts';
import { EMERGENCY_BYTES, EMERGENCY_NAME } from './emergency-segment.ts';
import { hasCode } from './file-errors.ts';
import { LOSSES_BYTES, LOSSES_NAME } from './losses-file.ts';
import { syncDirectory } from './segment-file.ts';
import { NODE_FILES, type SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';

/** Beside the spool, since renaming works within one file system only. */
export const PREPARED_NAME = 'standby';

const MAX_PREPARED = 16;
/** The others hold only a losses file, for as long as a crash loop lasts. */
const PREPARED_WITH_SEGMENT = 4;
const SEGMENT_SHARE_OF_DISK = 0.01;

/** In the order in which they are taken. */
const NAMES = Array.from({ length: MAX_PREPARED }, (_, index) => String(index + 1).padStart(2, '0'));
/** Marks an incomplete one. */
const TEMPORARY_SUFFIX = '.tmp';

const closeFile = promisify(close);

/** Renames one to `dir`, which must not exist. False when there is none. Never throws. */
export function takePrepared(preparedDir: string, dir: string, files: SpoolFiles, log: SpoolLog): boolean {
  let failure: unknown = null;
  for (const name of NAMES) {
    try {
      // The slash prevents renaming a link.
      files.rename(`${join(preparedDir, name)}/`, dir);
      return true;
    } catch (error) {
      // ENOENT: missing, or another process took it.
      if (!hasCode(error, 'ENOENT')) failure ??= error;
    }
  }
  if (failure !== null) log.warn({ err: failure, preparedDir, dir }, 'no directory that was laid out could be taken');
  return false;
}

/** Lays out the first missing one. False when none is missing or the disk has no room. One caller at a time. */
export async function prepareDirectory(preparedDir: string, maxBytes: number = EMERGENCY_BYTES): Promise<boolean> {
  await mkdir(preparedDir, { recursive: true, mode: 0o700 });
  const names = await readdir(preparedDir);
  for (const name of names) if (name.endsWith(TEMPORARY_SUFFIX)) await removeAll(join(preparedDir, name));
  const index = NAMES.findIndex((name) => !names.includes(name));
  const name = NAMES[index];
  if (name === undefined) return false;
  const { bavail, blocks, bsize } = await statfs(preparedDir);
  const diskBytes = blocks * bsize;
  const segmentBytes =
    index < PREPARED_WITH_SEGMENT ? Math.floor(Math.min(maxBytes, diskBytes * SEGMENT_SHARE_OF_DISK)) : 0;
  if (bavail * bsize - segmentBytes - LOSSES_BYTES < lowDiskBytes(diskBytes)) return false;
  const temporary = join(preparedDir, name + TEMPORARY_SUFFIX);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await fill(join(temporary, LOSSES_NAME), LOSSES_BYTES);
    if (segmentBytes > 0) await fill(join(temporary, EMERGENCY_NAME), segmentBytes);
    await syncDirectory(temporary);
    await rename(temporary, join(preparedDir, name));
  } catch (error) {
    await removeAll(temporary);
    throw error;
  }
  await syncDirectory(preparedDir);
  return true;
}

async function fill(path: string, bytes: number): Promise<void> {
  await closeFile(await NODE_FILES.createFilled(path, bytes));
}

async function removeAll(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}
