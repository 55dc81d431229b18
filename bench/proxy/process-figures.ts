/** CPU time, memory and children of processes, read from Linux's /proc. It starts and stops nothing; the one thing it writes resets a peak. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // A thread or process that ended between listing and reading has nothing more to say.
    return '';
  }
}

function listThreads(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

/** Nanoseconds on a core, all live threads of these processes together. */
export function readCpuNs(pids: readonly number[]): number {
  const files = pids.flatMap((pid) => listThreads(pid).map((thread) => `/proc/${pid}/task/${thread}/schedstat`));
  return files.reduce((sum, file) => sum + Number(readOrEmpty(file).split(' ')[0] || 0), 0);
}

export function readRssKb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const line = /^VmRSS:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/status`));
    return sum + Number(line?.[1] ?? 0);
  }, 0);
}

/** Each process's share of the memory that it has together with others (`Pss`), all of them together. */
export function readPssKb(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const line = /^Pss:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/smaps_rollup`));
    return sum + Number(line?.[1] ?? 0);
  }, 0);
}

/** The most that one process had since the last `resetPeakRss`. */
export function readPeakRssKb(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** From now on (proc(5), clear_refs: 5). */
export function resetPeakRss(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

export function readCommandLine(pid: number): string {
  return readOrEmpty(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
}

function listChildren(pid: number): number[] {
  return listThreads(pid)
    .flatMap((thread) => readOrEmpty(`/proc/${pid}/task/${thread}/children`).split(' '))
    .map(Number)
    .filter((child) => child > 0);
}

/** Children, grandchildren and so on, without the process itself. */
export function listDescendants(pid: number): number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}
