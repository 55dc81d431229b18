/** Where files are in memory, if there is such a place: for tests with hundreds of syncs that say nothing of a disk. */
import { accessSync, constants } from 'node:fs';
import { tmpdir } from 'node:os';

const MEMORY = '/dev/shm';

export function quickDir(): string {
  try {
    accessSync(MEMORY, constants.W_OK);
    return MEMORY;
  } catch {
    return tmpdir();
  }
}
