/** A gateway as process 1, as in a container: who waits for orphans, and what becomes of signals and exit codes. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leaveReapingToShell } from '../../src/supervisor/reap-orphans.ts';
import { createTestDir, removeTestDir } from './run-gateway.ts';
import { COMPILE_CACHE, waitUntil } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');
const isRoot = process.getuid?.() === 0;

let dir = '';
let namespace: ChildProcess | null = null;
beforeEach(() => {
  dir = createTestDir();
});
afterEach(() => {
  namespace?.kill('SIGKILL');
  namespace = null;
  removeTestDir(dir);
});

interface Contained {
  /** Of process 1, as seen from outside. */
  readonly pid: number;
  readonly log: () => Record<string, unknown>[];
  readonly exited: Promise<number | null>;
}

function listChildren(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

function readState(pid: number): string {
  try {
    return /^State:\s*(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
  } catch {
    return 'gone';
  }
}

const listZombies = (pid: number): number[] => listChildren(pid).filter((child) => readState(child) === 'Z');

/** `first`: a program of Node that is process 1 and starts the gateway; without it the gateway is process 1. */
async function startContained(first: readonly string[] = []): Promise<Contained> {
  const command = [process.execPath, ...first, MAIN, 'start'];
  const child = spawn('unshare', ['--pid', '--fork', '--kill-child', '--mount-proc', ...command], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      TOLLGATE_DATA_DIR: join(dir, 'data'),
      TOLLGATE_PORT: '0',
      TOLLGATE_ADMIN_PORT: '0',
      TOLLGATE_WORKERS: '1',
      TOLLGATE_STOP_DELAY_SECONDS: '0',
    },
  });
  namespace = child;
  let text = '';
  child.stderr.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const log = () =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line): Record<string, unknown> => JSON.parse(line));
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await waitUntil('it is ready', () => {
    if (child.exitCode !== null) throw new Error(text);
    return log().some(({ msg }) => msg === 'ready') ? true : undefined;
  });
  const [pid = 0] = listChildren(child.pid ?? 0);
  return { pid, log, exited };
}

/** Runs it among the processes of the gateway, without being a child of any of them. */
function runInside({ pid }: Contained, script: string): string {
  return execFileSync('nsenter', [`--target=${pid}`, '--pid', '--mount', 'sh', '-c', script], { encoding: 'utf8' });
}

if (!isRoot) process.stderr.write('NOT RUN, for want of root: a gateway as process 1\n');
test.runIf(isRoot)('what a killed PostgreSQL and others leave behind is waited for', async () => {
  const gateway = await startContained();
  runInside(gateway, 'for number in 1 2 3 4 5; do (sleep 0.2; exit 3) & done');
  runInside(
    gateway,
    "kill -9 $(head -1 \"$(tr '\\0' '\\n' < /proc/1/environ | sed -n s/TOLLGATE_DATA_DIR=//p)/postgres/postmaster.pid\")",
  );
  await waitUntil('PostgreSQL is started again', () =>
    gateway.log().filter(({ msg }) => msg === 'PostgreSQL ready').length === 2 ? true : undefined,
  );
  await waitUntil('nothing is left', () => (listZombies(gateway.pid).length === 0 ? true : undefined));
  expect(listChildren(gateway.pid)).toHaveLength(1);
  process.kill(gateway.pid, 'SIGTERM');
  expect(await gateway.exited).toBe(0);
});

test.runIf(isRoot)('signals to process 1 reach the gateway, and its exit code comes back', async () => {
  const gateway = await startContained();
  process.kill(gateway.pid, 'SIGHUP');
  await waitUntil('it restarts its processes', () =>
    gateway.log().some(({ msg }) => msg === 'the processes are restarted') ? true : undefined,
  );
  const [supervisor = 0] = listChildren(gateway.pid);
  process.kill(supervisor, 'SIGKILL');
  expect(await gateway.exited).toBe(137);
});

test.runIf(isRoot)('a gateway whose process 1 is another program of Node says what that means', async () => {
  const script =
    "const { spawn } = require('node:child_process'); spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })";
  const gateway = await startContained(['-e', script]);
  const said = 'process 1 here waits for no orphans: start the container with --init, or killed processes stay in it';
  expect(gateway.log().filter(({ level }) => level === 'warn')).toMatchObject([{ msg: said }]);
});

test('any other process stays what it is, and process 1 without a shell says that it must', () => {
  const own = { pid: 2, execPath: '/node', execArgv: [], argv: ['/node', '/main.ts', 'start'], env: {} };
  const execve = (): never => expect.fail('replaced');
  expect(leaveReapingToShell({ ...own, execve })).toBe(true);
  expect(leaveReapingToShell({ ...own, pid: 1, execve }, '/no/such/shell')).toBe(false);
  expect(leaveReapingToShell({ ...own, pid: 1 })).toBe(false);
});
