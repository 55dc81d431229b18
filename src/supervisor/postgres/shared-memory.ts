/**
 * Where the embedded PostgreSQL keeps what its processes share beyond its main block: in /dev/shm, as it does by
 * itself, or in files of its own where that has no room. Containers are given 64 KiB of it at times, and then `initdb`
 * aborts without naming it.
 */
import { accessSync, constants, statfsSync } from 'node:fs';

const PLACE = '/dev/shm';
/** Its statistics take pieces of one MiB, a few of them. */
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
    // There is none, or it is read-only.
    return 'mmap';
  }
}
