/**
 * How full the spool is: the bytes of all process directories against the limit, and the room left on the file system.
 * It measures, and judges which of the steps of docs/decisions/0022 that is; what a step means is the writer's.
 */
import { statfsSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { LOSSES_NAME } from './losses-file.ts';
import { RESERVE_NAME } from './reserve.ts';

const DEFAULT_MAX_BYTES = 4 * 1024 ** 3;
const DEFAULT_SHARE_OF_DISK = 0.2;
/** Bodies leave this much of the file system to the records (or a tenth of it, when it is small). */
const LOW_DISK_BYTES = 64 * 1024 ** 2;
const LOW_DISK_SHARE = 0.1;

/** A step is taken at its share of the limit, and left only below it by this: a spool at the line would flap. */
const STEP_BACK = 0.05;
const BODIES_UNTIL = 0.7;
const WHOLE_RECORDS_UNTIL = 0.85;
const RECORDS_UNTIL = 0.95;

/** The default limit: 4 GiB or 20 % of the file system, whichever is less. `dir` must exist. */
export function defaultMaxBytes(dir: string): number {
  const disk = statfsSync(dir);
  // Some file systems do not say how large they are.
  if (disk.blocks === 0) return DEFAULT_MAX_BYTES;
  return Math.min(DEFAULT_MAX_BYTES, Math.floor(disk.blocks * disk.bsize * DEFAULT_SHARE_OF_DISK));
}

/** `compact`: short endings, and no begin for calls outside runs. `counting`: losses are counted, nothing is written. */
export type SpaceStep = 'roomy' | 'no-bodies' | 'compact' | 'counting';

/** `before` is the step that was taken last. */
export function judgeSpace(bytes: number, maxBytes: number, isDiskLow: boolean, before: SpaceStep): SpaceStep {
  if (bytes >= maxBytes * (before === 'counting' ? RECORDS_UNTIL - STEP_BACK : RECORDS_UNTIL)) return 'counting';
  const wasCompact = before === 'counting' || before === 'compact';
  if (bytes >= maxBytes * (wasCompact ? WHOLE_RECORDS_UNTIL - STEP_BACK : WHOLE_RECORDS_UNTIL)) return 'compact';
  if (isDiskLow || bytes >= maxBytes * (before === 'roomy' ? BODIES_UNTIL : BODIES_UNTIL - STEP_BACK))
    return 'no-bodies';
  return 'roomy';
}

export interface SpaceReading {
  /** Records, stored or not; without the files that each process lays out for a full disk. */
  readonly bytes: number;
  readonly isDiskLow: boolean;
  readonly freeBytes: number;
  readonly diskBytes: number;
}

/** With less free room than this bodies are left out. */
export function lowDiskBytes(diskBytes: number): number {
  return Math.min(LOW_DISK_BYTES, diskBytes * LOW_DISK_SHARE);
}

/** Adds up the files of all process directories below `spoolDir`. What vanishes while it looks counts as nothing. */
export async function readSpace(spoolDir: string): Promise<SpaceReading> {
  let bytes = 0;
  for (const directory of await readdir(spoolDir, { withFileTypes: true })) {
    if (!directory.isDirectory()) continue;
    const dir = join(spoolDir, directory.name);
    for (const name of await readdir(dir).catch(() => [])) {
      if (name === RESERVE_NAME || name === LOSSES_NAME) continue;
      const file = await stat(join(dir, name)).catch(() => null);
      if (file?.isFile() === true) bytes += file.size;
    }
  }
  const disk = await statfs(spoolDir);
  const [freeBytes, diskBytes] = [disk.bavail * disk.bsize, disk.blocks * disk.bsize];
  return { bytes, isDiskLow: freeBytes < lowDiskBytes(diskBytes), freeBytes, diskBytes };
}
