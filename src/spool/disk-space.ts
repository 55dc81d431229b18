/** Measures spool and disk every two seconds and decides what to leave out (docs/decisions/0022). */
import { statfsSync } from 'node:fs';
import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { EMERGENCY_NAME } from './emergency-segment.ts';
import { LOSSES_NAME } from './losses-file.ts';
import type { SpoolLog } from './spool-log.ts';

const DEFAULT_MAX_BYTES = 4 * 1024 ** 3;
const DEFAULT_SHARE_OF_DISK = 0.2;
/** Free room that bodies must leave (or a tenth of a small disk). */
const LOW_DISK_BYTES = 64 * 1024 ** 2;
const LOW_DISK_SHARE = 0.1;
const MEASURE_INTERVAL_MS = 2_000;

/** `drop-details`: short endings, and no begin outside runs. `count-only`: losses are counted, nothing is written. */
export type DiskPressure = 'none' | 'drop-bodies' | 'drop-details' | 'count-only';

const PRESSURES: readonly DiskPressure[] = ['none', 'drop-bodies', 'drop-details', 'count-only'];
/** The share of the limit at which each begins. */
const FROM: Readonly<Record<DiskPressure, number>> = {
  none: 0,
  'drop-bodies': 0.7,
  'drop-details': 0.85,
  'count-only': 0.95,
};
/** Hysteresis, so that a spool at the line does not flap. */
const STEP_BACK = 0.05;

/** `before` is the last pressure. */
export function judgePressure(bytes: number, maxBytes: number, isDiskLow: boolean, before: DiskPressure): DiskPressure {
  // Nearly always, and asked three times a call.
  if (bytes < maxBytes * (FROM['drop-bodies'] - STEP_BACK)) return isDiskLow ? 'drop-bodies' : 'none';
  const isOn = (pressure: DiskPressure) => {
    const isStill = PRESSURES.indexOf(before) >= PRESSURES.indexOf(pressure);
    return bytes >= maxBytes * (isStill ? FROM[pressure] - STEP_BACK : FROM[pressure]);
  };
  const pressure = PRESSURES.findLast(isOn) ?? 'none';
  return pressure === 'none' && isDiskLow ? 'drop-bodies' : pressure;
}

/** 4 GiB or 20 % of the file system, whichever is less. `dir` must exist. */
export function defaultMaxBytes(dir: string): number {
  const disk = statfsSync(dir);
  // Some file systems do not report their size.
  if (disk.blocks === 0) return DEFAULT_MAX_BYTES;
  return Math.min(DEFAULT_MAX_BYTES, Math.floor(disk.blocks * disk.bsize * DEFAULT_SHARE_OF_DISK));
}

export function lowDiskBytes(diskBytes: number): number {
  return Math.min(LOW_DISK_BYTES, diskBytes * LOW_DISK_SHARE);
}

export interface DiskSpace {
  /** All records, without the files each process reserves for a full disk. */
  readonly bytes: number;
  readonly isDiskLow: boolean;
  readonly freeBytes: number;
  readonly diskBytes: number;
}

/** Measures all process directories below `spoolDir`. Files that vanish count as nothing. */
export async function measureDisk(spoolDir: string): Promise<DiskSpace> {
  let bytes = 0;
  for (const directory of await readdir(spoolDir, { withFileTypes: true })) {
    if (!directory.isDirectory()) continue;
    const dir = join(spoolDir, directory.name);
    for (const name of await readdir(dir).catch(() => [])) {
      if (name === EMERGENCY_NAME || name === LOSSES_NAME) continue;
      const file = await stat(join(dir, name)).catch(() => null);
      if (file?.isFile() === true) bytes += file.size;
    }
  }
  const disk = await statfs(spoolDir);
  const freeBytes = disk.bavail * disk.bsize;
  const diskBytes = disk.blocks * disk.bsize;
  return { bytes, isDiskLow: freeBytes < lowDiskBytes(diskBytes), freeBytes, diskBytes };
}

export interface DiskWatch {
  bytes(): number;
  /** The pressure with so many bytes pending. */
  pressure(pendingBytes: number): DiskPressure;
  hasRoomFor(pendingBytes: number): boolean;
  add(bytes: number): void;
  measure(): Promise<void>;
  stop(): void;
}

export interface DiskWatchOptions {
  readonly spoolDir: string;
  readonly maxBytes: number;
  readonly intervalMs?: number | undefined;
  readonly log: SpoolLog;
  /** Called after each periodic measurement; null when it failed. */
  readonly onTick: (space: DiskSpace | null) => void;
}

export function watchDisk({ spoolDir, maxBytes, intervalMs, log, onTick }: DiskWatchOptions): DiskWatch {
  let bytes = 0;
  let isDiskLow = false;
  let last: DiskPressure = 'none';
  let isMeasuring = false;
  /** Bytes added since the current measurement began; some may be counted twice for a moment. */
  let added = 0;

  async function measure(): Promise<DiskSpace | null> {
    if (isMeasuring) return null;
    isMeasuring = true;
    added = 0;
    try {
      const space = await measureDisk(spoolDir);
      bytes = space.bytes + added;
      isDiskLow = space.isDiskLow;
      return space;
    } catch (error) {
      log.warn({ err: error, spoolDir }, 'the size of the spool could not be measured');
      return null;
    } finally {
      isMeasuring = false;
    }
  }

  const judge = (pendingBytes: number) => judgePressure(bytes + pendingBytes, maxBytes, isDiskLow, last);

  const timer = setInterval(() => void measure().then(onTick), intervalMs ?? MEASURE_INTERVAL_MS); // It logs its own failure.
  timer.unref();
  void measure(); // It logs its own failure.

  return {
    bytes: () => bytes,
    pressure(pendingBytes) {
      const pressure = judge(pendingBytes);
      if (pressure !== last) log.warn({ pressure, bytes, maxBytes }, 'the room for records in the spool has changed');
      last = pressure;
      return pressure;
    },
    hasRoomFor: (pendingBytes) => judge(pendingBytes) === 'none',
    add(more) {
      bytes += more;
      added += more;
    },
    async measure() {
      await measure();
    },
    stop: () => clearInterval(timer),
  };
}
