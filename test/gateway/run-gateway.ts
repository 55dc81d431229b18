/** Starts a gateway with stand-in children in a directory of its own, reads what it says, and looks for what it leaves. */
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from './start-gateway.ts';

const GATEWAY = fileURLToPath(new URL('./stand-in-gateway.ts', import.meta.url));
const WAIT_MS = 45_000;

export interface GatewayRun {
  readonly pid: number;
  readonly dataDir: string;
  readonly stdout: () => string;
  readonly stderr: () => string;
  /** Log entries so far. */
  readonly log: () => Record<string, unknown>[];
  /** Resolves with the entry whose message begins so; rejects when the gateway ends before. */
  readonly logged: (message: string, count?: number) => Promise<Record<string, unknown>>;
  /** Resolves when the text stands on stdout; the banner comes after the log's `ready`, through another pipe. */
  readonly printed: (text: string) => Promise<boolean>;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly proxy: () => string;
  /** GET or POST on the admin port with the token of `admin.json`. */
  readonly admin: (method: string, path: string) => Promise<unknown>;
}

export interface GatewayOptions {
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Put before the command, such as `setpriv …`. */
  readonly prefix?: readonly string[];
  readonly cwd?: string;
}

/** A new empty directory that every user can reach. */
export function createTestDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'tg-'));
  chmodSync(path, 0o755);
  return path;
}

export function removeTestDir(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

async function until<T>(read: () => T | undefined | null | false, what: () => string): Promise<T> {
  const endMs = Date.now() + WAIT_MS;
  for (;;) {
    const value = read();
    if (value !== undefined && value !== null && value !== false) return value;
    if (Date.now() > endMs) throw new Error(`timed out: ${what()}`);
    await sleep(20);
  }
}

function parseLog(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line): Record<string, unknown> => JSON.parse(line));
}

export function runGateway(options: GatewayOptions): GatewayRun {
  const { dataDir } = options;
  const command = [...(options.prefix ?? []), process.execPath, GATEWAY, ...(options.args ?? [])];
  const { TOLLGATE_DATA_DIR: _data, DATABASE_URL: _url, ...inherited } = process.env;
  const child: ChildProcess = spawn(command[0] ?? '', command.slice(1), {
    cwd: options.cwd ?? '/',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...inherited,
      TOLLGATE_PORT: '0',
      TOLLGATE_ADMIN_PORT: '0',
      TOLLGATE_WORKERS: '1',
      TOLLGATE_DATA_DIR: dataDir,
      // There is no terminal here.
      TOLLGATE_STOP_DELAY_SECONDS: '0',
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...options.env,
    },
  });
  let stdout = '';
  let stderr = '';
  let isOver = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.on('exit', (code, signal) => {
      isOver = true;
      // Not `close`: the children have the same pipes.
      setTimeout(() => resolve({ code, signal }), 50);
    });
  });
  const log = () => parseLog(stderr);
  return {
    pid: child.pid ?? -1,
    dataDir,
    stdout: () => stdout,
    stderr: () => stderr,
    log,
    logged: (message, count = 1) =>
      until(
        () => {
          const found = log().filter(({ msg }) => String(msg).startsWith(message));
          if (found.length >= count) return found[count - 1];
          if (isOver) throw new Error(`the gateway ended: ${stderr}`);
          return undefined;
        },
        () => `${message}\n${stderr}`,
      ),
    printed: (text) =>
      until(
        () => stdout.includes(text),
        () => `${text}\n${stdout}\n${stderr}`,
      ),
    exited,
    kill: (signal) => void child.kill(signal),
    proxy: () => String(log().find(({ msg }) => msg === 'ready')?.['proxy']),
    admin: async (method, path) => {
      const file: { url: string; token: string } = JSON.parse(readFileSync(join(dataDir, 'admin.json'), 'utf8'));
      const response = await fetch(`${file.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${file.token}` },
      });
      return response.json();
    },
  };
}

function readOrEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

/** Every process that works on this data directory: by its command line, its environment, or where it is. */
export function listProcesses(dataDir: string): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => ({
      pid: Number(name),
      command: readOrEmpty(() => readFileSync(`/proc/${name}/cmdline`, 'utf8')).replaceAll('\0', ' '),
      where: readOrEmpty(() => readlinkSync(`/proc/${name}/cwd`)),
      env: readOrEmpty(() => readFileSync(`/proc/${name}/environ`, 'utf8')),
    }))
    .filter(
      ({ command, where, env }) =>
        command !== '' &&
        (command.includes(dataDir) || where.startsWith(dataDir) || env.includes(`TOLLGATE_DATA_DIR=${dataDir}\0`)),
    )
    .map(({ pid, command }) => ({ pid, command }));
}

export async function untilNoProcess(dataDir: string): Promise<void> {
  await until(
    () => listProcesses(dataDir).length === 0,
    () => JSON.stringify(listProcesses(dataDir)),
  );
}
