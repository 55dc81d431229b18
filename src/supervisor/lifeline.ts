/**
 * A named pipe that a process and its children hold open, which tells that they live where pids say nothing. The kernel
 * refuses writers to a pipe without a reader, across pid namespaces, for orphans and for suspended processes. It works
 * within one machine and does not tell who holds it.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Held by the supervisor and its children, except PostgreSQL. */
export const GATEWAY_LIFELINE = 'gateway.pipe';
/** Held by the embedded PostgreSQL, which may outlive its gateway. */
export const POSTGRES_LIFELINE = 'postgres.pipe';

const MKFIFO_LIMIT_MS = 5_000;

function isPipe(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFIFO() ?? false;
}

/** Makes the pipe if there is none and opens it. Null where the file system has no pipes. */
export function holdLifeline(dataDir: string, name: string): number | null {
  const path = join(dataDir, name);
  try {
    if (!isPipe(path)) spawnSync('mkfifo', ['-m', '600', path], { stdio: 'ignore', timeout: MKFIFO_LIMIT_MS });
    if (!isPipe(path)) return null;
    // Read-only opening would wait for a writer.
    return openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

export function isLifelineHeld(dataDir: string, name: string): boolean {
  const path = join(dataDir, name);
  if (!isPipe(path)) return false;
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch {
    // ENXIO: there is no reader.
    return false;
  }
}

/** The kernel's number of the pipe: another mount may show another pipe. Null for none. */
export function readLifelineId(dataDir: string, name: string): string | null {
  const stat = lstatSync(join(dataDir, name), { throwIfNoEntry: false });
  return stat?.isFIFO() ? `${stat.dev}:${stat.ino}` : null;
}
