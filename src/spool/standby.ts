/**
 * Process directories that are laid out ahead, while the disk has room, for processes that start when it has none: each
 * has a ledger for losses, and the first of them a reserve for endings. A process takes one by giving it its own name,
 * which needs no block; one process lays them out. Not part of the spool until then: nobody ships or counts them.
 */
import { close } from 'node:fs';
import { mkdir, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOSSES_BYTES, LOSSES_NAME } from './losses-file.ts';
import { RESERVE_BYTES, RESERVE_NAME } from './reserve.ts';
import { syncDirectory } from './segment-file.ts';
import { NODE_FILES, type SpoolFiles } from './spool-files.ts';
import type { SpoolLog } from './spool-log.ts';
import { lowDiskBytes } from './spool-space.ts';

/** In the data directory, beside the spool: a name can be changed within one file system only. */
export const STANDBY_NAME = 'standby';

const MAX_STANDBYS = 16;
/** Those behind them have a ledger alone: losses are counted, then, as long as a crash loop lasts. */
const STANDBYS_WITH_RESERVE = 4;
/** Of each reserve. */
const RESERVE_SHARE_OF_DISK = 0.01;

/** Two digits, in the order in which they are taken. */
const STANDBY_NAMES = Array.from({ length: MAX_STANDBYS }, (_, index) => String(index + 1).padStart(2, '0'));
/** Of one that is not complete. */
const TEMPORARY_SUFFIX = '.tmp';

const closeFile = promisify(close);

/** Makes one of them the process directory `dir`, which must not be there yet. False: there is none. Never throws. */
export function takeStandby(standbyDir: string, dir: string, files: SpoolFiles, log: SpoolLog): boolean {
  let failure: unknown = null;
  for (const name of listStandbys(standbyDir, files, log)) {
    try {
      if (take(join(standbyDir, name), dir, files)) return true;
    } catch (error) {
      // Another process has taken it; or it is nothing that can be taken, and the next one may be.
      if (!isMissing(error)) failure ??= error;
    }
  }
  if (failure !== null) log.warn({ err: failure, standbyDir, dir }, 'no directory that was laid out could be taken');
  return false;
}

/** Without any, as before the first was laid out, a process lays out what it needs by itself. */
function listStandbys(standbyDir: string, files: SpoolFiles, log: SpoolLog): readonly string[] {
  try {
    const names = files.listNames(standbyDir);
    return STANDBY_NAMES.filter((name) => names.includes(name));
  } catch (error) {
    if (!isMissing(error)) log.warn({ err: error, standbyDir }, 'the directories that were laid out cannot be read');
    return [];
  }
}

/** False: it holds something that is not of ours, which would be shipped as calls of this process. */
function take(standby: string, dir: string, files: SpoolFiles): boolean {
  if (!files.listNames(standby).every((name) => name === LOSSES_NAME || name === RESERVE_NAME)) return false;
  // With the slash only a directory is renamed, no link to one: behind a link nobody would find the records.
  files.rename(`${standby}/`, dir);
  return true;
}

/**
 * Lays out the first that is missing, with a reserve of at most `maxReserveBytes`. False: none is missing, or the disk
 * has no room to spare. One caller at a time; what one left half-way that was killed is removed.
 */
export async function layOutStandby(standbyDir: string, maxReserveBytes: number = RESERVE_BYTES): Promise<boolean> {
  await mkdir(standbyDir, { recursive: true, mode: 0o700 });
  const names = await readdir(standbyDir);
  for (const name of names) if (name.endsWith(TEMPORARY_SUFFIX)) await removeAll(join(standbyDir, name));
  const index = STANDBY_NAMES.findIndex((name) => !names.includes(name));
  const name = STANDBY_NAMES[index];
  if (name === undefined) return false;
  const { bavail, blocks, bsize } = await statfs(standbyDir);
  const diskBytes = blocks * bsize;
  const reserveBytes =
    index < STANDBYS_WITH_RESERVE ? Math.floor(Math.min(maxReserveBytes, diskBytes * RESERVE_SHARE_OF_DISK)) : 0;
  if (bavail * bsize - reserveBytes - LOSSES_BYTES < lowDiskBytes(diskBytes)) return false;
  const temporary = join(standbyDir, name + TEMPORARY_SUFFIX);
  try {
    await mkdir(temporary, { mode: 0o700 });
    await fill(join(temporary, LOSSES_NAME), LOSSES_BYTES);
    if (reserveBytes > 0) await fill(join(temporary, RESERVE_NAME), reserveBytes);
    await syncDirectory(temporary);
    await rename(temporary, join(standbyDir, name));
  } catch (error) {
    await removeAll(temporary);
    throw error;
  }
  await syncDirectory(standbyDir);
  return true;
}

async function fill(path: string, bytes: number): Promise<void> {
  await closeFile(await NODE_FILES.createFilled(path, bytes));
}

async function removeAll(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
