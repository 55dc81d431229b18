/** Reads PostgreSQL's `postmaster.pid`. */
import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { readStartTime } from '../process-identity.ts';

/** Lines: pid, data directory, start, port, socket folder, address, shared memory, status. */
export interface PostmasterFile {
  readonly pid: number;
  readonly port: number;
  readonly socketDir: string;
  readonly isReady: boolean;
}

export function readPostmaster(cluster: string): PostmasterFile | null {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return { pid, port: Number(lines[3]), socketDir: lines[4] ?? '', isReady: lines[7]?.trim() === 'ready' };
}

/** Whether the pid may be a server on this cluster; true when that cannot be seen. */
export function mayBePostgres(pid: number, cluster: string): boolean {
  if (readStartTime(pid) === null) return false;
  if (process.platform !== 'linux') return true;
  try {
    // A server's working directory is its data directory.
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster);
  } catch {
    return true;
  }
}
