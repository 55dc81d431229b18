/** A gateway's life: start, deaths of its parts, kill -9, stop. */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createTestDir,
  type GatewayRun,
  listProcesses,
  removeTestDir,
  runGateway,
  untilNoProcess,
} from './run-gateway.ts';

let dir = '';
let dataDir = '';
const runs: GatewayRun[] = [];
beforeEach(() => {
  dir = createTestDir();
  dataDir = join(dir, 'data');
});
afterEach(async () => {
  for (const run of runs.splice(0)) {
    run.kill('SIGTERM');
    await run.exited;
  }
  await untilNoProcess(dataDir);
  removeTestDir(dir);
});

async function start(env: Readonly<Record<string, string>> = {}, args: readonly string[] = []): Promise<GatewayRun> {
  const run = runGateway({ dataDir, env, args });
  runs.push(run);
  await run.logged('ready');
  await run.printed('curl ');
  return run;
}

interface ProxyAnswer {
  readonly pid: number;
  readonly version: number;
  readonly spool: string;
  readonly config: Readonly<Record<string, unknown>>;
}

async function askProxy(run: GatewayRun): Promise<ProxyAnswer> {
  return JSON.parse(await (await fetch(run.proxy(), { headers: { connection: 'close' } })).text());
}

interface StatusAnswer {
  readonly pid: number;
  readonly names: readonly string[];
  readonly databaseUrl: string;
  readonly message: { readonly status: { readonly children: readonly Readonly<Record<string, unknown>>[] } };
}

async function askStatus(run: GatewayRun): Promise<StatusAnswer> {
  return JSON.parse(JSON.stringify(await run.admin('GET', '/status')));
}

test('the first start prints address and key once; a later one prints no key', async () => {
  const first = await start();
  expect(first.stdout()).toContain(`Base address  ${first.proxy()}`);
  expect(first.stdout()).toContain('export TOLLGATE_KEY=tgk_standin1');
  expect(first.stdout()).toContain('-H "Authorization: Bearer $OPENAI_API_KEY"');
  expect(statSync(join(dataDir, 'admin.json')).mode & 0o777).toBe(0o600);
  first.kill('SIGTERM');
  expect(await first.exited).toEqual({ code: 0, signal: null });
  expect(listProcesses(dataDir)).toEqual([]);

  const second = await start({}, ['--demo']);
  expect(second.stdout()).not.toContain('tgk_');
  expect(second.stdout()).toContain('-H "X-Gateway-Key: $TOLLGATE_KEY"');
  expect(second.stdout()).toContain('-H "X-Gateway-Provider-Alias: demo"');
});

test('proxies get the demo aliases, the key version and no secret', async () => {
  const run = await start({ TOLLGATE_ADMIN_TOKEN: 'a-token-of-the-operator' }, ['--demo']);
  const { config, version } = await askProxy(run);
  expect(config['aliases']).toMatchObject({ openai: { demo: { region: null } }, bedrock: { demo: { region: null } } });
  expect([config['databaseUrl'], config['adminToken']]).toEqual([null, null]);
  expect(version).toBe(1_001);
  const proxy = listProcesses(dataDir).find(({ command }) => command.includes('internal-proxy'));
  expect(readFileSync(`/proc/${proxy?.pid}/environ`, 'utf8')).not.toContain('a-token-of-the-operator');
});

test('a new key is answered when every proxy has applied it', async () => {
  const run = await start({ TOLLGATE_WORKERS: '2' });
  expect(await run.admin('POST', '/api/v1/keys')).toEqual({
    key: 'tgk_standin2',
    message: { type: 'keys-published', version: 1_002, confirmed: true },
  });
});

test('a killed proxy is replaced under a new spool name, and no connection is refused meanwhile', async () => {
  const run = await start();
  const before = await askProxy(run);
  process.kill(before.pid, 'SIGKILL');
  const after = await askProxy(run);
  expect(after.pid).not.toBe(before.pid);
  expect(after.spool).not.toBe(before.spool);
  await run.logged('child ready', 3);
  const { message, names } = await askStatus(run);
  expect(names).toEqual([after.spool]);
  expect(message.status.children).toMatchObject([
    { role: 'proxy', state: 'ready', restarts: 1, lastExit: 'SIGKILL', pid: after.pid },
    { role: 'control', state: 'ready', restarts: 0, lastExit: null },
    { role: 'postgres', state: 'ready', restarts: 0, lastExit: null },
  ]);
});

test('a killed control process is replaced while calls go on', async () => {
  const run = await start();
  const { pid } = await askStatus(run);
  const proxy = await askProxy(run);
  process.kill(pid, 'SIGKILL');
  await run.logged('child ready', 3);
  expect((await askStatus(run)).pid).not.toBe(pid);
  expect((await askProxy(run)).pid).toBe(proxy.pid);
});

test('a killed PostgreSQL is started again', async () => {
  const run = await start();
  const { child } = await run.logged('PostgreSQL ready');
  process.kill(Number(child), 'SIGKILL');
  const again = await run.logged('PostgreSQL ready', 2);
  expect(again['child']).not.toBe(child);
});

test('after kill -9 of the supervisor its children end, and the next start adopts PostgreSQL and leaves nothing', async () => {
  const first = await start();
  const { child } = await first.logged('PostgreSQL ready');
  first.kill('SIGKILL');
  await first.exited;
  runs.splice(0);
  const second = await start();
  expect(await second.logged('PostgreSQL ready')).toMatchObject({ adopted: true, child });
  const roles = listProcesses(dataDir).filter(({ command }) => command.includes('internal-'));
  expect(roles).toHaveLength(2);
  second.kill('SIGINT');
  expect(await second.exited).toEqual({ code: 0, signal: null });
  expect(listProcesses(dataDir)).toEqual([]);
});

test('children of a killed supervisor that do not end are killed by the next start', async () => {
  const first = await start({ STAND_IN_STUBBORN: '1' });
  const { pid } = await askProxy(first);
  // Stopped, it cannot even run the timer that ends an orphan.
  process.kill(pid, 'SIGSTOP');
  first.kill('SIGKILL');
  await first.exited;
  runs.splice(0);
  const second = await start();
  expect(await second.logged('killing a process of a killed gateway')).toMatchObject({ pid: expect.any(Number) });
  expect(listProcesses(dataDir).map((one) => one.pid)).not.toContain(pid);
});

test('a signal to the whole group, twice as npm and a terminal do it, stops in order with 0', async () => {
  const run = runGateway({ dataDir, prefix: ['setsid'] });
  await run.logged('ready');
  process.kill(-run.pid, 'SIGINT');
  process.kill(-run.pid, 'SIGINT');
  expect(await run.exited).toEqual({ code: 0, signal: null });
  expect(listProcesses(dataDir)).toEqual([]);
});

test('an open call is finished before the stop', async () => {
  const run = await start();
  const slow = fetch(`${run.proxy()}/slow`, { headers: { connection: 'close' } });
  await sleep(100);
  run.kill('SIGTERM');
  expect(await (await slow).text()).toBe('slow');
  expect((await run.exited).code).toBe(0);
});

test('a signal during the start leaves nothing', async () => {
  const run = runGateway({ dataDir });
  // The data directory is taken first; its processes are started from then on.
  while (!existsSync(join(dataDir, 'owner.json'))) await sleep(20);
  await sleep(200);
  run.kill('SIGTERM');
  expect(await run.exited).toEqual({ code: 0, signal: null });
  expect(listProcesses(dataDir)).toEqual([]);
});

test('a gateway that was set up starts without its database, and says so', async () => {
  (await start()).kill('SIGTERM');
  await runs.splice(0)[0]?.exited;
  const run = await start({ DATABASE_URL: 'postgresql://me:s3cret@127.0.0.1:1/calls' });
  await run.logged('the database is away');
  expect((await askProxy(run)).version).toBe(1_001);
  expect(run.stderr()).not.toContain('s3cret');
});

test('a second signal ends the waiting', async () => {
  const run = runGateway({ dataDir });
  await run.logged('ready');
  const { pid } = await askProxy(run);
  process.kill(pid, 'SIGSTOP');
  run.kill('SIGTERM');
  await run.logged('stopping');
  await sleep(500);
  run.kill('SIGTERM');
  expect(await run.exited).toEqual({ code: 1, signal: null });
  expect(listProcesses(dataDir)).toEqual([]);
});

test('a gateway that was set up proxies while its PostgreSQL cannot start, and has it when it can', async () => {
  (await start()).kill('SIGTERM');
  await runs.splice(0)[0]?.exited;
  const control = join(dataDir, 'postgres', 'global', 'pg_control');
  renameSync(control, `${control}.away`);
  const run = await start();
  expect((await askProxy(run)).version).toBe(1_001);
  expect((await askStatus(run)).message.status.children.at(-1)).toMatchObject({ role: 'postgres', pid: null });
  renameSync(`${control}.away`, control);
  await run.logged('PostgreSQL ready');
});

test('it works with npm as its parent, a closed stdin and no terminal', async () => {
  const shell = spawn(
    'sh',
    ['-c', `exec "${process.execPath}" "${join(import.meta.dirname, 'stand-in-gateway.ts')}" <&- `],
    {
      env: {
        ...process.env,
        TOLLGATE_DATA_DIR: dataDir,
        TOLLGATE_PORT: '0',
        TOLLGATE_ADMIN_PORT: '0',
        TOLLGATE_STOP_DELAY_SECONDS: '0',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    },
  );
  await new Promise((resolve) => shell.stdout.once('data', resolve));
  const ended = new Promise((resolve) => shell.once('exit', resolve));
  shell.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(listProcesses(dataDir)).toEqual([]);
});
