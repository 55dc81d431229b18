/** A disk of its own for a data directory, in memory, so that it can be filled to the last byte. Needs root. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync, statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const BLOCK = Buffer.alloc(1024 * 1024);
const SMALL_BLOCK_BYTES = 4_096;
/** What others free meanwhile is taken again. */
const TAKE_INTERVAL_MS = 100;

export interface Disk {
  /** A folder in it, to be made. */
  readonly dataDir: string;
  readonly freeBytes: () => number;
  /** Takes every byte that is or gets free until `forMs` have passed, then gives them back. */
  readonly fill: (forMs: number) => Promise<void>;
  readonly remove: () => void;
}

/** Null where this user may not mount one. */
export function mountDisk(megabytes: number): Disk | null {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tollgate-soak', path]);
  if (mounted.status !== 0) {
    rmdirSync(path);
    return null;
  }
  const filler = join(path, 'filler');

  async function fill(forMs: number): Promise<void> {
    const endMs = performance.now() + forMs;
    const file = await open(filler, 'w');
    try {
      do {
        await writeUntilFull(BLOCK.length);
        await writeUntilFull(SMALL_BLOCK_BYTES);
        await sleep(TAKE_INTERVAL_MS);
      } while (performance.now() < endMs);
    } finally {
      await file.close();
      rmSync(filler, { force: true });
    }

    async function writeUntilFull(bytes: number): Promise<void> {
      try {
        for (;;) await file.write(BLOCK, 0, bytes);
      } catch (error) {
        const isFull = error instanceof Error && 'code' in error && error.code === 'ENOSPC';
        if (!isFull) throw error;
      }
    }
  }

  return {
    dataDir: join(path, 'data'),
    freeBytes: () => {
      const { bavail, bsize } = statfsSync(path);
      return bavail * bsize;
    },
    fill,
    remove: () => {
      // Lazily, where something still holds it open.
      if (spawnSync('umount', [path]).status !== 0) spawnSync('umount', ['-l', path]);
      rmSync(path, { recursive: true, force: true });
    },
  };
}
