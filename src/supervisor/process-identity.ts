/**
 * Who a process is, so that a pid which the system gave to another process is not taken for the old one: pid, start
 * time, and the boot and the pid namespace in which both mean something.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';

export interface ProcessIdentity {
  readonly pid: number;
  /** As the system tells it: clock ticks since boot (Linux), or a date (macOS). Only ever compared for equality. */
  readonly startTime: string;
}

/** Where pids are comparable: the same boot of the same kernel, and the same pid namespace (container). */
export interface ProcessRealm {
  readonly bootId: string;
  readonly pidNamespace: string;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // Not there, or not ours to read: both mean "not known".
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

/** The start time of a running process, or null when there is none with this pid (a zombie is none). */
export function readStartTime(pid: number): string | null {
  if (process.platform !== 'linux') return runPs(pid);
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === null) return null;
  // proc(5): the name in parentheses may hold spaces and parentheses, so fields are counted after the last one.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
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
      // Without it another boot looks like the same one; the start times of the processes still differ.
    }
    return { bootId: bootTime, pidNamespace: 'none' };
  }
  let pidNamespace = 'unknown';
  try {
    pidNamespace = readlinkSync('/proc/self/ns/pid');
  } catch {
    // A /proc that hides it: then all namespaces look the same, and only the start time tells.
  }
  return { bootId: readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown', pidNamespace };
}
