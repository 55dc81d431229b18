/** A node of a deployment as its own process, with a role and a data directory that outlives it. Not a mock of anything. */
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { listProcesses } from './run-gateway.ts';
import { asRecord, COMPILE_CACHE, findFreePort, makeDataDir, readAdminFile, waitUntil } from './start-gateway.ts';

const MAIN = join(import.meta.dirname, '..', '..', 'src', 'main.ts');

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface RoleNode {
  readonly name: string;
  readonly dataDir: string;
  readonly port: number;
  readonly base: string;
  readonly adminBase: string;
  /** What its last run has printed so far, on stdout and stderr. */
  readonly output: () => string;
  readonly start: () => void;
  /** Resolves when `readyz` on this port has the status. */
  readonly ready: (port: 'proxy' | 'admin', status?: number) => Promise<void>;
  readonly admin: (path: string, init?: RequestInit & { readonly token?: string }) => Promise<Answer>;
  /** With its own token; throws on a status of 400 or above. */
  readonly api: (path: string, init?: RequestInit) => Promise<Record<string, unknown>>;
  /** In order; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
  /** Every process of it, at once. */
  readonly kill: () => Promise<void>;
  readonly remove: () => void;
}

export async function makeNode(name: string, role: string, env: Readonly<Record<string, string>>): Promise<RoleNode> {
  const dataDir = makeDataDir();
  const port = await findFreePort();
  const adminPort = await findFreePort();
  const base = `http://127.0.0.1:${port}`;
  const adminBase = `http://127.0.0.1:${adminPort}`;
  let child: ChildProcess | null = null;
  let output = '';

  async function admin(path: string, { token, ...init }: RequestInit & { token?: string } = {}): Promise<Answer> {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
    const response = await fetch(`${adminBase}${path}`, { ...init, headers, signal: AbortSignal.timeout(30_000) });
    return { status: response.status, text: await response.text() };
  }

  function ended(): Promise<number | null> {
    const own = child;
    if (own === null || own.exitCode !== null || own.signalCode !== null) return Promise.resolve(own?.exitCode ?? null);
    return new Promise((resolve) => own.once('exit', (code) => resolve(code)));
  }

  return {
    name,
    dataDir,
    port,
    base,
    adminBase,
    admin,
    output: () => output,
    start: () => {
      output = '';
      child = spawn(process.execPath, [MAIN, 'start', '--role', role], {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          NODE_COMPILE_CACHE: COMPILE_CACHE,
          TOLLGATE_DATA_DIR: dataDir,
          TOLLGATE_PORT: String(port),
          TOLLGATE_ADMIN_PORT: String(adminPort),
          TOLLGATE_WORKERS: '1',
          TOLLGATE_STOP_DELAY_SECONDS: '0',
          TOLLGATE_NODE: name,
          ...env,
        },
      });
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
    },
    ready: async (which, status = 200) => {
      await waitUntil(`readyz of ${name}`, async () => {
        if (child?.exitCode != null) throw new Error(`${name} ended with ${child.exitCode}:\n${output}`);
        const url = `${which === 'proxy' ? base : adminBase}/readyz`;
        return (await fetch(url).catch(() => null))?.status === status ? true : undefined;
      }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${output}`);
      });
    },
    api: async (path, init = {}) => {
      const { token } = readAdminFile(dataDir);
      const headers = { 'content-type': 'application/json' };
      const { status, text } = await admin(path, { ...init, headers, token });
      if (status >= 400) throw new Error(`${path}: ${status} ${text}`);
      return asRecord(JSON.parse(text));
    },
    stop: async () => {
      child?.kill('SIGTERM');
      return ended();
    },
    kill: async () => {
      const end = ended();
      for (const { pid } of listProcesses(dataDir)) process.kill(pid, 'SIGKILL');
      await end;
    },
    remove: () => rmSync(dataDir, { recursive: true, force: true }),
  };
}
