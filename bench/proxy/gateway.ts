/** The gateway as a user starts it, with a data directory of its own and the benchmark's provider as upstream. */
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isAnswered, type Peer, readFreePort, waitFor } from './peer.ts';
import { listDescendants, readCommandLine } from './process-figures.ts';
import { LOAD_CORE, PROXY_CORE, place, stopChild } from './programs.ts';
import type { AskedWay } from './variants.ts';

const AdminFile = z.object({ url: z.string(), token: z.string() });
const Created = z.object({ id: z.number() });
const CreatedKey = z.object({ id: z.number(), key: z.string() });
const CreatedRunToken = z.object({ token: z.string() });
const Status = z.object({ processes: z.array(z.object({ role: z.string(), pid: z.number().nullable() })) });

type Admin = z.infer<typeof AdminFile>;
type MeasuredKey = z.infer<typeof CreatedKey>;

const FIRST_ACCOUNT = 1;

async function callAdmin(
  admin: Admin,
  method: string,
  path: string,
  body?: unknown,
  accountId = FIRST_ACCOUNT,
): Promise<unknown> {
  const response = await fetch(new URL(path, admin.url), {
    method,
    headers: {
      authorization: `Bearer ${admin.token}`,
      'content-type': 'application/json',
      'x-tollgate-account': String(accountId),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`);
  return response.json();
}

function readAdminFile(directory: string): Admin | null {
  try {
    return AdminFile.parse(JSON.parse(readFileSync(join(directory, 'admin.json'), 'utf8')));
  } catch {
    return null;
  }
}

/** The proxy's pid: from the status of the admin API, or, where that does not tell, from the command lines. */
async function findProxyPids(admin: Admin, descendants: readonly number[]): Promise<number[]> {
  const answer = await callAdmin(admin, 'GET', '/api/v1/status').catch(() => null);
  const status = Status.safeParse(answer);
  const told = status.success ? status.data.processes.filter((child) => child.role === 'proxy') : [];
  const pids = told.flatMap((child) => (child.pid === null ? [] : [child.pid]));
  if (pids.length > 0) return pids;
  return descendants.filter((pid) => readCommandLine(pid).includes('internal-proxy'));
}

/** Too large to refuse anything. */
const LIMIT = { max_concurrent: 100_000, requests_per_minute: 1_000_000_000, tokens_per_minute: 1_000_000_000_000 };
const BUDGET = { amount_usd: '1000000', when_unknown: 'refuse' };

/** Of an account that has no guards. */
async function makePlainKey(admin: Admin): Promise<string> {
  const { id } = Created.parse(await callAdmin(admin, 'POST', '/api/v1/accounts', { name: 'Plain' }));
  const made = await callAdmin(admin, 'POST', '/api/v1/keys', { name: 'plain' }, id);
  return CreatedKey.parse(made).key;
}

/** Limits and hard budgets of the key and the account, and brakes that have paused a run of others. */
async function setGuards(admin: Admin, { id }: MeasuredKey): Promise<void> {
  await callAdmin(admin, 'PATCH', `/api/v1/keys/${id}`, LIMIT);
  await callAdmin(admin, 'POST', '/api/v1/limits', LIMIT);
  await callAdmin(admin, 'POST', '/api/v1/budgets', { ...BUDGET, name: 'Key', scope: 'key', period: 'day' });
  await callAdmin(admin, 'POST', '/api/v1/budgets', { ...BUDGET, name: 'Account', scope: 'account', period: 'month' });
  await callAdmin(admin, 'POST', '/api/v1/brakes/pauses', { scope: 'run', value: 'another-run', reason: 'bench' });
}

const SESSION = '01a22b99-6db3-717b-8b4d-05be6567110f';

/** As an agent asks that has an address alone: a run token in it says what else headers do, and the agent its session. */
async function askAsAgent(admin: Admin): Promise<AskedWay> {
  const key = { name: 'bench agents', runs_from: ['agents'] };
  const { id } = CreatedKey.parse(await callAdmin(admin, 'POST', '/api/v1/keys', key));
  const run = {
    key_id: id,
    trace_id: 'run-0123456789abcdef',
    span_path: 'plan/search',
    metadata: { Feature: 'search' },
  };
  const { token } = CreatedRunToken.parse(await callAdmin(admin, 'POST', '/api/v1/run-tokens', run));
  return {
    path: `/@${token}/v1/chat/completions`,
    userAgent: 'pi/1.6.0 (linux; node/v26.10.0; x64)',
    headers: [`session-id: ${SESSION}`, `x-client-request-id: ${SESSION}`],
  };
}

export interface GatewayOptions {
  /** Those whose address is the benchmark's provider, in the form of the settings' names. */
  readonly providers?: readonly string[];
  /** Whether limits, budgets and brakes are in force on every call. */
  readonly isGuarded?: boolean;
  /** Whether it is asked with a run token in the address, by an agent whose ids make runs. */
  readonly isAskedByAgent?: boolean;
  /** Whose gateway: this checkout's, or that of another one with its dependencies installed. */
  readonly checkout?: string;
}

const THIS_CHECKOUT = join(import.meta.dirname, '..', '..');

export async function startGateway(directory: string, mockPort: number, options: GatewayOptions = {}): Promise<Peer> {
  const { providers = ['OPENAI'], isGuarded = false, isAskedByAgent = false, checkout = THIS_CHECKOUT } = options;
  mkdirSync(directory, { recursive: true });
  const [port, adminPort] = [await readFreePort(), await readFreePort()];
  const { DATABASE_URL: _notForBenchmarks, ...inherited } = process.env;
  const log = join(directory, 'gateway.log');
  const main = join(checkout, 'src', 'main.ts');
  const child = spawn(process.execPath, [main, 'start'], {
    stdio: ['ignore', openSync(log, 'a', 0o600), openSync(log, 'a', 0o600)],
    env: {
      ...inherited,
      TOLLGATE_DATA_DIR: directory,
      TOLLGATE_PORT: String(port),
      TOLLGATE_ADMIN_PORT: String(adminPort),
      TOLLGATE_WORKERS: '1',
      TOLLGATE_STOP_DELAY_SECONDS: '0',
      ...Object.fromEntries(providers.map((name) => [`TOLLGATE_UPSTREAM_${name}`, `http://127.0.0.1:${mockPort}`])),
    },
  });
  const stop = () => stopChild(child, 30_000);
  try {
    const assertAlive = () => {
      if (child.exitCode === null) return;
      throw new Error(`the gateway ended with ${child.exitCode}: ${readFileSync(log, 'utf8').slice(-2000)}`);
    };
    const admin = await waitFor('the gateway', () => {
      assertAlive();
      return readAdminFile(directory);
    });
    // The first start makes a key of its own as well.
    const key = await waitFor('the admin API', async () => {
      assertAlive();
      const created = await callAdmin(admin, 'POST', '/api/v1/keys', { name: 'bench' }).catch(() => null);
      const parsed = CreatedKey.safeParse(created);
      return parsed.success ? parsed.data : null;
    });
    await waitFor('the proxy port', () => {
      assertAlive();
      return isAnswered(`http://127.0.0.1:${port}/readyz`);
    });
    if (isGuarded) await setGuards(admin, key);
    const plainKey = isGuarded || isAskedByAgent ? await makePlainKey(admin) : key.key;
    const asked = isAskedByAgent ? await askAsAgent(admin) : {};
    const all = listDescendants(child.pid ?? 0);
    const proxyPids = await findProxyPids(admin, all);
    if (proxyPids.length !== 1) throw new Error(`one proxy process expected, found ${proxyPids.length}`);
    const otherPids = [child.pid ?? 0, ...all.filter((pid) => !proxyPids.includes(pid))];
    place(proxyPids, PROXY_CORE);
    place(otherPids, LOAD_CORE);
    const ports = { jsonPort: port, ssePort: port };
    return { name: 'gateway', ...ports, gatewayKey: key.key, plainKey, asked, proxyPids, otherPids, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
