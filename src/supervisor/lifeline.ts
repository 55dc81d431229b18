/**
 * Tells whether a process lives, where its pid says nothing: a named pipe that it and its children hold open. The kernel
 * lets nobody write into a pipe that no process reads, and knows that across pid namespaces (containers), for children
 * of a killed parent, and for suspended processes. It is one way only: who holds it is not told. One machine, too.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Of the gateway: the supervisor and the processes that it starts, except PostgreSQL. */
export const GATEWAY_LIFELINE = 'gateway.pipe';
/** Of the embedded PostgreSQL, which may outlive its gateway. */
export const POSTGRES_LIFELINE = 'postgres.pipe';

const MKFIFO_LIMIT_MS = 5_000;

function isPipe(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}

/** Makes the pipe if there is none, and opens it, for a process or its children to hold. Null where there are no pipes. */
export function holdLifeline(dataDir: string, name: string): number | null {
  const path = join(dataDir, name);
  try {
    if (!isPipe(path)) spawnSync('mkfifo', ['-m', '600', path], { stdio: 'ignore', timeout: MKFIFO_LIMIT_MS });
    if (!isPipe(path)) return null;
    // Opened for reading only, it would wait for a writer.
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch {
    // A file system without pipes: then the other signs must do.
    return null;
  }
}

/** False also when there is no such pipe. */
export function isLifelineHeld(dataDir: string, name: string): boolean {
  const path = join(dataDir, name);
  if (!isPipe(path)) return false;
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    // ENXIO: nobody reads it.
    return false;
  }
}

/** Which pipe it is, as this kernel numbers it: another mount of the same files may have another pipe. Null for none. */
export function readLifelineId(dataDir: string, name: string): string | null {
  const stat = lstatSync(join(dataDir, name), { throwIfNoEntry: false });
  return stat?.isFIFO() ? `${stat.dev}:${stat.ino}` : null;
}
