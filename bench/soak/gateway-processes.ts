/** The processes of a running gateway by role, as Linux shows them: its own API may be down. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listDescendants, readCommandLine } from '../proxy/process-figures.ts';

export const ROLES = ['supervisor', 'proxy', 'control', 'postgres', 'backend'] as const;
export type Role = (typeof ROLES)[number];

export interface RoleProcess {
  readonly role: Role;
  readonly pid: number;
}

/** `backend`: any process of the database but its first. */
export function listRoles(supervisorPid: number, dataDir: string): RoleProcess[] {
  const children = listDescendants(supervisorPid).flatMap((pid): RoleProcess[] => {
    const command = readCommandLine(pid);
    if (command.includes('internal-proxy')) return [{ role: 'proxy', pid }];
    return command.includes('internal-control') ? [{ role: 'control', pid }] : [];
  });
  const postmaster = readPostmaster(dataDir);
  const database: RoleProcess[] =
    postmaster === null
      ? []
      : [
          { role: 'postgres', pid: postmaster },
          ...listDescendants(postmaster).map((pid): RoleProcess => ({ role: 'backend', pid })),
        ];
  return [{ role: 'supervisor', pid: supervisorPid }, ...children, ...database];
}

/** The embedded database; it is nobody's child when it was taken over. Null when there is none. */
export function readPostmaster(dataDir: string): number | null {
  try {
    const cluster = join(dataDir, 'postgres');
    const pid = Number(readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')[0]);
    // A pid file outlives its server.
    return pid > 0 && readlinkSync(`/proc/${pid}/cwd`) === cluster ? pid : null;
  } catch {
    return null;
  }
}

export function countOpenFiles(pid: number): { readonly files: number; readonly sockets: number } {
  try {
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readLink(`/proc/${pid}/fd/${fd}`));
    return { files: links.length, sockets: links.filter((link) => link.startsWith('socket:')).length };
  } catch {
    return { files: 0, sockets: 0 };
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended by itself.
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
