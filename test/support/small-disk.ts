/**
 * Disks that can be full, for tests: small file systems where the test may mount them, and, everywhere, a folder whose
 * segments lead to a device without room. Each has the same handles, so that a test runs on all that there are.
 */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_FILES, type SpoolFiles } from '../../src/spool/spool-files.ts';
import { createFullDevice } from './faulty-files.ts';

const TMPFS_BYTES = 8 * 1024 * 1024;
const EXT4_BYTES = 32 * 1024 * 1024;

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

interface FileSystem {
  readonly means: string;
  /** Throws where it cannot be mounted. */
  readonly mount: (dir: string) => void;
}

const FILE_SYSTEMS: readonly FileSystem[] = [
  {
    means: 'a full tmpfs',
    mount: (dir) => run('mount', '-t', 'tmpfs', '-o', `size=${TMPFS_BYTES},mode=700`, 'tmpfs', dir),
  },
  {
    // Unlike on the other, no folder can be made on it.
    means: 'a full ext4',
    mount: (dir) => {
      const image = `${dir}.img`;
      try {
        writeFileSync(image, '');
        truncateSync(image, EXT4_BYTES);
        run('mkfs.ext4', '-q', '-m', '0', image);
        // Otherwise room that was put aside by estimate comes back when it has been filled.
        run('mount', '-o', 'loop,nodelalloc', image, dir);
      } finally {
        // The mount holds it.
        rmSync(image);
      }
    },
  },
];

function run(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}

/** Null where it may not be mounted. */
function mountDisk({ mount }: FileSystem): string | null {
  const dir = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    mount(dir);
    return dir;
  } catch {
    rmSync(dir, { recursive: true });
    return null;
  }
}

function openDisk(dir: string): SmallDisk {
  const filler = join(dir, 'filler');
  const freeBytes = () => statfsSync(dir).bavail * statfsSync(dir).bsize;
  appendFileSync(filler, '');
  return {
    dir,
    files: NODE_FILES,
    freeBytes,
    fill() {
      const fd = openSync(filler, 'a');
      for (const bytes of [64 * 1024, 4_096, 1]) {
        try {
          for (;;) writeSync(fd, Buffer.alloc(bytes, 1));
        } catch {
          // Full, which was the aim.
        }
      }
      closeSync(fd);
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
  const mounted = FILE_SYSTEMS.filter((system) => {
    const probe = mountDisk(system);
    if (probe !== null) openDisk(probe).remove();
    return probe !== null;
  });
  const disks = mounted.map((system) => ({
    means: system.means,
    open: () => {
      const dir = mountDisk(system);
      if (dir === null) throw new Error(`another disk could not be mounted for ${system.means}`);
      return openDisk(dir);
    },
  }));
  return [device, ...disks];
}
