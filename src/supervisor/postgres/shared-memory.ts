/** Chooses files where /dev/shm lacks room: `initdb` aborts there without naming the reason. */
import { accessSync, constants, statfsSync } from 'node:fs';

const PLACE = '/dev/shm';
/** PostgreSQL's statistics take a few pieces of one MiB. */
const NEEDED_BYTES = 16 * 1024 * 1024;

/** Values of `dynamic_shared_memory_type`. */
export type SharedMemory = 'posix' | 'mmap';

export function chooseSharedMemory(place = PLACE): SharedMemory {
  if (process.platform !== 'linux') return 'posix';
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize >= NEEDED_BYTES ? 'posix' : 'mmap';
  } catch {
    return 'mmap';
  }
}
