/** Compiles and starts the two C programs of the benchmark: the provider and the client. It measures nothing itself. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { PreparedAnswer } from './answers.ts';

/** The proxy under test has this core for itself … */
export const PROXY_CORE = 0;
/** … and everything else shares this one. */
export const LOAD_CORE = 1;

/** Pace of the provider's streams: from one event to the next. */
export const FAST_MS = 20;
const SLOW_MS = 2000;
const BUILD = join(import.meta.dirname, 'build');

export interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

/** What `load.c` says about its window. */
export interface LoadFigures {
  readonly seconds: number;
  readonly answers: number;
  readonly bodyBytes: number;
  readonly chunks: number;
  readonly errors: number;
  readonly badStatus: number;
  readonly badLength: number;
  readonly openStreams: number;
  readonly notSent: number;
  readonly latencyUs: Percentiles | null;
  readonly firstByteUs: Percentiles | null;
  readonly chunkDelayUs: Percentiles | null;
}

export interface LoadOptions {
  readonly port: number;
  readonly request: Buffer;
  readonly connections: number;
  readonly bodyBytes: number;
  /** Stop after so many answers; or measure for `seconds`. */
  readonly answers?: number;
  readonly seconds?: number;
  readonly settleSeconds?: number;
  readonly spreadSeconds?: number;
  /** Requests a second, whatever the answers do. */
  readonly rate?: number;
  /** On a core apart from the proxy; true by default. */
  readonly isPinned?: boolean;
}

/** `command` with a prefix that keeps it on one core; without one where the machine has only one. */
export function pinned(
  core: number,
  command: string,
  ...args: readonly string[]
): readonly [string, readonly string[]] {
  return availableParallelism() < 2 ? [command, args] : ['taskset', ['-c', String(core), command, ...args]];
}

/** Keeps all threads of running processes on one core, or on any. */
export function place(pids: readonly number[], core: number | 'any'): void {
  const cores = core === 'any' ? `0-${availableParallelism() - 1}` : String(core);
  for (const pid of pids) {
    try {
      execFileSync('taskset', ['-a', '-c', '-p', cores, String(pid)], { stdio: 'ignore' });
    } catch {
      // A process that has just ended, or a machine with one core: nothing to keep apart.
    }
  }
}

/** Compiles what is older than its source. */
export function buildPrograms(): void {
  mkdirSync(BUILD, { recursive: true });
  for (const name of ['mock', 'load']) {
    const source = join(import.meta.dirname, `${name}.c`);
    const program = join(BUILD, name);
    const built = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (built < statSync(source).mtimeMs)
      execFileSync('cc', ['-O2', '-Wall', '-o', program, source], { stdio: 'inherit' });
  }
}

export interface Mock {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Ends a child that we started and waits until it is gone; after `graceMs` it is killed. */
export async function stopChild(child: ChildProcess, graceMs = 5000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await gone;
  clearTimeout(timer);
}

/** Starts the provider; `answers` in the order that it takes them. */
export async function startMock(answers: readonly PreparedAnswer[], { isPinned = true } = {}): Promise<Mock> {
  const flags = [String(FAST_MS), String(SLOW_MS), ...answers.map((answer) => answer.file)];
  const program = join(BUILD, 'mock');
  const [command, args] = isPinned ? pinned(LOAD_CORE, program, ...flags) : [program, flags];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`mock ended with ${code} before it listened`)));
    createInterface({ input: child.stdout }).once('line', (line) => resolve(Number(line.replace('port ', ''))));
  });
  return { port, pid: child.pid ?? 0, stop: () => stopChild(child) };
}

function loadArguments(requestFile: string, options: LoadOptions): string[] {
  const flags: readonly (readonly [string, number | undefined])[] = [
    ['-p', options.port],
    ['-c', options.connections],
    ['-n', options.answers],
    ['-d', options.seconds],
    ['-w', options.settleSeconds],
    ['-s', options.spreadSeconds],
    ['-r', options.rate],
    ['-l', options.bodyBytes],
  ];
  return ['-q', requestFile, ...flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]))];
}

/** What a window may call: at its opening and at its closing, as near as a pipe allows (about a millisecond). */
export interface WindowEdges {
  readonly onBegin?: () => void;
  readonly onEnd?: () => void;
}

export async function runLoad(options: LoadOptions, edges: WindowEdges = {}): Promise<LoadFigures> {
  const requestFile = join(BUILD, `request-${process.pid}.http`);
  writeFileSync(requestFile, options.request, { mode: 0o600 });
  const program = join(BUILD, 'load');
  const flags = loadArguments(requestFile, options);
  const [command, args] = options.isPinned === false ? [program, flags] : pinned(LOAD_CORE, program, ...flags);
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let figures: LoadFigures | null = null;
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'begin') edges.onBegin?.();
    if (!line.startsWith('end ')) return;
    edges.onEnd?.();
    figures = JSON.parse(line.slice(4));
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  if (figures === null) throw new Error(`the load generator ended with ${code} and without figures`);
  return figures;
}
