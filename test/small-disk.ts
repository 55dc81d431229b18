/**
 * Disks that can be full, for tests: a small tmpfs where the test may mount one, and, everywhere, a folder whose segments
 * lead to a device without room. Each has the same handles, so that a test runs on all that there are.
 */
import { execFileSync } from 'node:child_process';
import { appendFileSync, closeSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_FILES, type SpoolFiles } from '../src/spool/spool-files.ts';
import { createFullDevice } from './faulty-files.ts';

const TMPFS_BYTES = 8 * 1024 * 1024;

export interface SmallDisk {
  readonly dir: string;
  readonly files: SpoolFiles;
  /** Takes every byte that is free. */
  readonly fill: () => void;
  /** Gives it back. */
  readonly empty: () => void;
  readonly freeBytes: () => number;
  readonly remove: () => void;
}

/** Null where nothing may be mounted. */
function mountTmpfs(): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${TMPFS_BYTES},mode=700`, 'tmpfs', dir], { stdio: 'ignore' });
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return null;
  }
}

function openTmpfs(dir: string): SmallDisk {
  const filler = join(dir, 'filler');
  const freeBytes = () => statfsSync(dir).bavail * statfsSync(dir).bsize;
  appendFileSync(filler, '');
  return {
    dir,
    files: NODE_FILES,
    freeBytes,
    fill() {
      const fd = openSync(filler, 'a');
      try {
        const block = Buffer.alloc(64 * 1024, 1);
        for (;;) writeSync(fd, block);
      } catch {
        // Full, which was the aim.
      } finally {
        closeSync(fd);
      }
    },
    empty: () => rmSync(filler),
    remove() {
      // Lazily: a file descriptor of a test that failed may still be open.
      execFileSync('umount', ['-l', dir]);
      rmSync(dir, { recursive: true });
    },
  };
}

function openDevice(): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), 'full-device-'));
  const device = createFullDevice();
  return {
    dir,
    files: device.files,
    freeBytes: () => (device.isFull ? 0 : 1),
    fill: () => {
      device.isFull = true;
    },
    empty: () => {
      device.isFull = false;
    },
    remove: () => rmSync(dir, { recursive: true }),
  };
}

/** By the means of it. */
export function listSmallDisks(): { readonly means: string; readonly open: () => SmallDisk }[] {
  const device = { means: 'segments on /dev/full', open: openDevice };
  const probe = mountTmpfs();
  if (probe === null) return [device];
  openTmpfs(probe).remove();
  const open = () => {
    const dir = mountTmpfs();
    if (dir === null) throw new Error('a second tmpfs could not be mounted');
    return openTmpfs(dir);
  };
  return [device, { means: 'a full tmpfs', open }];
}
