/** Identifies a process beyond its pid, which the system reuses: by start time, boot and pid namespace. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** Clock ticks since boot (Linux) or a date (macOS); compared for equality only. */
  readonly startTime: string;
}

export interface ProcessRealm {
  readonly bootId: string;
  readonly pidNamespace: string;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function runPs(pid: number): string | null {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 5_000,
    });
    const match = /^\s*(\S+)\s+(.+?)\s*$/.exec(text);
    return match === null || match[1]?.startsWith('Z') ? null : (match[2] ?? null);
  } catch {
    // ps exits with 1 when there is no such process.
    return null;
  }
}

/** The fields of proc(5) from the state on, on Linux; null when no process has this pid. */
export function readStatFields(pid: number | string): readonly string[] | null {
  // The name in parentheses may hold spaces and parentheses, so fields are counted after the last one.
  const stat = readText(`/proc/${pid}/stat`);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Null when no process has this pid; a zombie does not count. */
export function readStartTime(pid: number): string | null {
  if (process.platform !== 'linux') return runPs(pid);
  const fields = readStatFields(pid);
  if (fields === null) return null;
  const isDead = fields[0] === 'Z' || fields[0] === 'X';
  return isDead ? null : (fields[19] ?? null);
}

export function isAlive(identity: ProcessIdentity): boolean {
  return readStartTime(identity.pid) === identity.startTime;
}

export function readOwnIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: readStartTime(process.pid) ?? 'unknown' };
}

export function readRealm(): ProcessRealm {
  if (process.platform !== 'linux') {
    let bootTime = 'unknown';
    try {
      bootTime = execFileSync('sysctl', ['-n', 'kern.boottime'], { encoding: 'utf8', timeout: 5_000 }).trim();
    } catch {
      // Without a boot id the start times of the processes still differ.
    }
    return { bootId: bootTime, pidNamespace: 'none' };
  }
  let pidNamespace = 'unknown';
  try {
    pidNamespace = readlinkSync('/proc/self/ns/pid');
  } catch {
    // A hidden namespace looks like any other; the start time still tells.
  }
  return { bootId: readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown', pidNamespace };
}
