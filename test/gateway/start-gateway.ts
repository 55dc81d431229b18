/**
 * Starts a whole gateway as a user does (supervisor, proxy, control process, embedded PostgreSQL) in a folder of its
 * own, on free ports, and talks to it through its ports only. Not a mock of anything.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch as fetchFresh, type RequestInit as RequestInitOfUndici } from 'undici';
import { makePreparedDataDir } from '../support/prepared-data-dir.ts';

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 45_000;
const root = join(import.meta.dirname, '..', '..');
export const COMPILE_CACHE = join(root, 'node_modules', '.cache', 'tollgate-tests');

/** As in `GET /api/v1/status`. */
export interface GatewayProcess {
  readonly role: string;
  readonly pid: number | null;
  readonly state: string;
  readonly restarts: number;
}

export interface TestGateway {
  /** `http://127.0.0.1:PORT` of the proxy, or `https://…`. */
  readonly base: string;
  readonly port: number;
  readonly adminPort: number;
  readonly adminBase: string;
  readonly dataDir: string;
  readonly key: string;
  readonly process: ChildProcess;
  /** What it printed so far, on stdout and stderr. */
  readonly output: () => string;
  /** A call of the admin API; throws on a status of 400 or above. */
  readonly api: (path: string, init?: RequestInit) => Promise<unknown>;
  /** The record of one call, waiting until it is there. */
  readonly waitForLog: (id: string) => Promise<Record<string, unknown>>;
  readonly processes: () => Promise<readonly GatewayProcess[]>;
  /** Ctrl-C; resolves with the exit code. `remove` false keeps the data for the next start. */
  readonly stop: (options?: { remove?: boolean }) => Promise<number | null>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly dataDir?: string;
  readonly args?: readonly string[];
  /** In PEM: its proxy port speaks TLS with a certificate by this authority. */
  readonly ca?: string;
  /** The folder of another release to run; this one by default. */
  readonly release?: string;
  /** Until it is ready; two minutes by default. */
  readonly timeoutMs?: number;
  /** Those of a gateway before, whose clients go on; free ones by default. */
  readonly ports?: { readonly port: number; readonly adminPort: number };
}

/** Below the ports that systems give to connections by themselves: one of those could be taken before it is used. */
const FIRST_PORT = 12_000;
const PORTS = 18_000;

export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export async function waitUntil<T>(
  what: string,
  read: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 30_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    if (performance.now() > deadlineMs) throw new Error(`waited ${timeoutMs} ms in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

/** A folder that the database's own user can reach too. */
export function makeDataDir(): string {
  return mkdtempSync(join(tmpdir(), 'tollgate-test-'));
}

/** With its own database in a new folder it is past its first start: see `prepared-data-dir.ts`. */
export async function startGateway(options: StartOptions = {}): Promise<TestGateway> {
  const isPrepared = options.release === undefined && options.env?.['DATABASE_URL'] === undefined;
  const dataDir = options.dataDir ?? (isPrepared ? await makePreparedDataDir() : makeDataDir());
  const { port, adminPort } = options.ports ?? { port: await findFreePort(), adminPort: await findFreePort() };
  const release = options.release ?? root;
  const child = spawn(process.execPath, [join(release, 'src/main.ts'), 'start', ...(options.args ?? [])], {
    cwd: release,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      TOLLGATE_DATA_DIR: dataDir,
      TOLLGATE_PORT: String(port),
      TOLLGATE_ADMIN_PORT: String(adminPort),
      TOLLGATE_WORKERS: '1',
      // There is no terminal here.
      TOLLGATE_STOP_DELAY_SECONDS: '0',
      // One for all gateways of the tests: most of a start is compiling.
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      ...options.env,
    },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const base = `${options.ca === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;
  const adminBase = `http://127.0.0.1:${adminPort}`;

  async function api(path: string, init: RequestInit = {}): Promise<unknown> {
    const { token } = readAdminFile(dataDir);
    const { status, text } = await ask(`${adminBase}${path}`, {
      method: init.method ?? 'GET',
      body: typeof init.body === 'string' ? init.body : null,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headersOf(init) },
    });
    if (status >= 400) throw new Error(`${init.method ?? 'GET'} ${path}: ${status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async function isReady(): Promise<true | undefined> {
    if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}:\n${output}`);
    const proxy = await ask(`${base}/readyz`, {}, options.ca).catch(() => undefined);
    const admin = existsSync(join(dataDir, 'admin.json'))
      ? await ask(`${adminBase}/readyz`).catch(() => undefined)
      : undefined;
    if (proxy?.status !== 200 || admin?.status !== 200) return undefined;
    // Without its database the gateway is ready as well, but no key can be made.
    return asRecord(JSON.parse(admin.text))['database'] === 'up' ? true : undefined;
  }

  const created = await waitUntil('the gateway is ready', isReady, options.timeoutMs ?? START_TIMEOUT_MS)
    .then(() => api('/api/v1/keys', { method: 'POST', body: JSON.stringify({ name: 'test' }) }))
    .then(asRecord)
    .catch((error: unknown) => {
      child.kill('SIGINT');
      throw new Error(`${String(error)}\n${output}`);
    });
  return {
    base,
    port,
    adminPort,
    adminBase,
    dataDir,
    key: String(created['key']),
    process: child,
    output: () => output,
    api,
    waitForLog: (id) =>
      waitUntil(`the record ${id}`, async () => {
        const found = await api(`/api/v1/logs/${id}`).catch(() => undefined);
        return found === undefined || asRecord(found)['outcome'] == null ? undefined : asRecord(found);
      }),
    processes: async () => readProcesses(await api('/api/v1/status')),
    stop: async ({ remove = true } = {}) => {
      const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGINT');
        const force = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
        await ended;
        clearTimeout(force);
      }
      if (remove) rmSync(dataDir, { recursive: true, force: true });
      return child.exitCode;
    },
  };
}

export function readAdminFile(dataDir: string): { url: string; token: string } {
  const parsed = asRecord(JSON.parse(readFileSync(join(dataDir, 'admin.json'), 'utf8')));
  return { url: String(parsed['url']), token: String(parsed['token']) };
}

export function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error(`not an object: ${JSON.stringify(value)}`);
  return { ...value };
}

function readProcesses(answer: unknown): GatewayProcess[] {
  const { processes } = asRecord(answer);
  if (!Array.isArray(processes)) throw new Error(`no processes: ${JSON.stringify(answer)}`);
  return processes.map((entry: unknown) => {
    const { role, pid, state, restarts } = asRecord(entry);
    return {
      role: String(role),
      pid: typeof pid === 'number' ? pid : null,
      state: String(state),
      restarts: Number(restarts),
    };
  });
}

/**
 * On a connection of its own: a test that waits for a command is deaf meanwhile, and one that was open could be over. One
 * that is kept would hold a proxy process that is to be replaced.
 */
async function ask(
  url: string,
  init: RequestInitOfUndici = {},
  ca?: string,
): Promise<{ readonly status: number; readonly text: string }> {
  const dispatcher = new Agent(ca === undefined ? {} : { connect: { ca } });
  try {
    const answer = await fetchFresh(url, { ...init, dispatcher });
    return { status: answer.status, text: await answer.text() };
  } finally {
    await dispatcher.destroy();
  }
}

function headersOf({ headers }: RequestInit): Record<string, string> {
  return Object.fromEntries(new Headers(headers));
}
