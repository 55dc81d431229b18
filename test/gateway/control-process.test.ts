/** The control process and the command line against a real database; the test plays the supervisor. */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { runControlProcess } from '../../src/control/process/control-process.ts';
import { workForAllNodes } from '../../src/control/process/for-all-nodes.ts';
import { insertKey } from '../../src/control/store/gateway-keys.ts';
import { openPool } from '../../src/control/store/pool.ts';
import { digestKey, isWellFormedKey } from '../../src/keys/gateway-key.ts';
import { parseKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { openSpoolWriter } from '../../src/spool/spool-writer.ts';
import type { ControlStart, DownMessage, UpMessage } from '../../src/vocabulary/channel.ts';
import type { Config } from '../../src/vocabulary/config.ts';
import { callBegin, callEnd, NOON_MS, priceByToken } from '../support/call-fixtures.ts';
import { fixedPrices } from '../support/fixed-prices.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { quietLog } from '../support/quiet-log.ts';

const TOKEN = 'cli-test-token';
const DEADLINE_MS = 30_000;

/** The supervisor's end: one proxy that applies every change at once, unless told otherwise. */
function createSupervisorStandIn() {
  const listeners: ((message: DownMessage) => void)[] = [];
  const disconnects: (() => void)[] = [];
  const sent: UpMessage[] = [];
  const toChild = (message: DownMessage): void => {
    for (const listener of listeners) listener(message);
  };
  return {
    sent,
    toChild,
    disconnect: () => {
      for (const listener of disconnects) listener();
    },
    channel: {
      onMessage: (listener: (message: DownMessage) => void) => void listeners.push(listener),
      onDisconnect: (listener: () => void) => void disconnects.push(listener),
      send: (message: UpMessage) => {
        sent.push(message);
        if (message.type === 'publish-keys')
          setImmediate(() => toChild({ type: 'keys-published', version: message.change.version, confirmed: true }));
        if (message.type === 'status-request')
          setImmediate(() =>
            toChild({
              type: 'status',
              requestId: message.requestId,
              status: {
                startedAtMs: NOON_MS,
                restart: { requested: 0, finished: 0, problem: null },
                children: [
                  {
                    role: 'proxy',
                    pid: 1,
                    state: 'ready',
                    startedAtMs: NOON_MS,
                    restarts: 0,
                    recentExits: 0,
                    lastExit: null,
                    metrics: null,
                  },
                ],
                attempts: [
                  {
                    atMs: NOON_MS,
                    code: 'key_missing',
                    status: 401,
                    method: 'POST',
                    path: '/v1/\u001b[2Jx',
                    provider: null,
                    userAgent: null,
                  },
                ],
                attemptsTotal: 1,
                attemptsNotShown: 0,
              },
            }),
          );
        return true;
      },
    },
  };
}

const [kind] = POSTGRES_KINDS;
let server: TestPostgres;
let dir: string;
let databaseUrl: string;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  server = await startPostgres(kind);
});
afterAll(() => server.remove());
beforeEach(async () => {
  databaseUrl = await server.createDatabase();
  dir = mkdtempSync(join(tmpdir(), 'tollgate-control-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function startMessage(): ControlStart {
  const config: Config = {
    role: 'all',
    host: '127.0.0.1',
    port: 1,
    adminHost: '127.0.0.1',
    adminPort: 0,
    adminExposed: false,
    publicUrl: null,
    tls: null,
    adminPublicUrl: null,
    trustedProxies: [],
    clientAddress: 'keep',
    adminToken: null,
    metricsToken: null,
    credentialKeys: { keys: [], problem: null },
    oidc: null,
    alerts: { smtpUrl: null, smtpFrom: 'tollgate@localhost', hosts: [] },
    dataDir: dir,
    databaseUrl: null,
    workers: 1,
    upstreams: {},
    aliases: {},
    leading: {},
    egress: { httpProxy: null, httpsProxy: null, noProxy: null },
    bodies: 'full',
    priceFeed: 'off',
    usage: 'ask',
    onClientAbort: 'cancel',
    onRevoke: 'finish',
    durability: 'process',
    onFull: 'open',
    keepAliveSeconds: 75,
    drainSeconds: 30,
    stopDelaySeconds: 0,
    search: 'on',
    estimates: 'on',
    retentionRowsDays: 90,
    retentionBodiesDays: 14,
    logLevel: 'info',
    node: 'test',
    demo: false,
    traceSteps: false,
  };
  const places = { databaseUrl, spoolDir: join(dir, 'spool'), keysFile: join(dir, 'keys.json') };
  return {
    type: 'start',
    role: 'control',
    config,
    adminToken: TOKEN,
    ...places,
    liveSpools: ['proxy-1'],
    settings: [],
    proxyOrigin: 'http://127.0.0.1:1',
  };
}

async function startControl() {
  const supervisor = createSupervisorStandIn();
  const logged: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logged.push(line) });
  const listening = Promise.withResolvers<number>();
  const exited = Promise.withResolvers<number>();
  const ended = runControlProcess({
    connectToSupervisor: () => supervisor.channel,
    createLog: () => log,
    openPrices: async () => fixedPrices(priceByToken),
    createFace: workForAllNodes,
    onListening: listening.resolve,
    exit: exited.resolve,
  });
  await sleep(0);
  supervisor.toChild(startMessage());
  const port = await listening.promise;
  writeFileSync(join(dir, 'admin.json'), JSON.stringify({ url: `http://127.0.0.1:${port}`, token: TOKEN }));
  return { supervisor, logged, port, ended, exited: exited.promise };
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!(await isDone())) {
    if (performance.now() > deadlineMs) throw new Error('it did not happen');
    await sleep(50);
  }
}

async function isReady(port: number): Promise<boolean> {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  return (await response.text()).includes('"ok"');
}

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function runCli(args: readonly string[], dataDir = dir): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>();
  const env = { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: dataDir };
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), ...args], { env });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString();
  });
  child.on('close', (code) => resolve({ code, out, err }));
  return promise;
}

test('the API is up before the database, and everything works once that answers', async () => {
  await server.stop();
  const { supervisor, port, exited } = await startControl();
  expect(supervisor.sent).toContainEqual({ type: 'ready' });
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const early = await fetch(`http://127.0.0.1:${port}/api/v1/keys`, { method: 'POST', headers, body: '{"name":"x"}' });
  expect([early.status, await early.text()]).toEqual([503, expect.stringContaining('database_unavailable')]);
  await server.start();
  await until(() => isReady(port));
  const later = await fetch(`http://127.0.0.1:${port}/api/v1/keys`, { method: 'POST', headers, body: '{"name":"x"}' });
  expect(later.status).toBe(201);
  supervisor.disconnect();
  expect(await exited).toBe(0);
});

test('a key that another node made reaches the proxies and the file without being asked', async () => {
  const { supervisor, port, exited } = await startControl();
  await until(() => isReady(port));
  // The keys of the start are in no message, only in the file.
  await until(async () => supervisor.sent.some(({ type }) => type === 'publish-keys'));
  const pool = openPool({
    connectionString: databaseUrl,
    max: 1,
    statementTimeoutMs: 5_000,
    applicationName: 'other node',
    onIdleError: () => {},
  });
  const digest = digestKey('other');
  const plain = {
    accountId: 1,
    prefix: 'tgk_',
    last4: 'abcd',
    expiresAtMs: null,
    usage: null,
    bodies: null,
    allowInAddress: false,
    runsFrom: [],
  } as const;
  await insertKey(pool, { ...plain, name: 'other', digest });
  await until(async () => JSON.stringify(supervisor.sent).includes(digest));
  const file = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
  expect(file?.keys.has(digest)).toBe(true);

  // The database is set back: its numbers are old, its content is other. The proxies must still take it.
  await pool.query('delete from gateway_keys');
  await pool.query('update key_snapshot set version = 1');
  await until(async () => {
    const now = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'));
    return now?.keys.size === 0 && now.version > (file?.version ?? 0);
  });
  // The file is written first, and then they are told.
  const version = parseKeySnapshot(readFileSync(join(dir, 'keys.json'), 'utf8'))?.version;
  const findTold = () => supervisor.sent.findLast((message) => message.type === 'publish-keys')?.change;
  await until(async () => findTold()?.version === version);
  expect(findTold()).toMatchObject({ upserts: [], removed: [digest] });
  await pool.end();
  supervisor.toChild({ type: 'stop', graceMs: 5_000 });
  expect(await exited).toBe(0);
});

test('the command line makes keys, shows logs, runs and the state, and says one line when there is no gateway', async () => {
  const { supervisor, port, logged, exited } = await startControl();
  await until(() => isReady(port));

  const created = await runCli(['keys', 'create', 'my laptop']);
  expect(created.code).toBe(0);
  expect(isWellFormedKey(created.out.trim())).toBe(true);
  const listed = await runCli(['keys', 'list']);
  expect(listed.out).toMatch(/my laptop +tgk_\w{4}…\w{4} .* never +0 +\$0\.00 +valid/);
  const edit = ['--allow-in-address', '--models', 'gpt-5*,o3', '--networks', '10.0.0.0/8,::1', '--owner', 'team a'];
  expect((await runCli(['keys', 'edit', '1', ...edit])).out).toMatch(
    /^Key 1\n(.*\n)+owner +team a\n(.*\n)+models +gpt-5\*, o3\naliases +all\n.*\nnetworks +10\.0\.0\.0\/8, ::1\/128\n(.*\n)+in addresses +allowed\n/,
  );
  expect((await runCli(['keys', 'edit', '1', '--models', 'any'])).out).toMatch(/^models +all$/m);
  expect((await runCli(['keys', 'edit', '1', '--providers', 'acme'])).err).toContain('allowed_providers');
  expect((await runCli(['keys', 'edit', '1'])).err).toContain('nothing to change');
  const rotated = await runCli(['keys', 'rotate', '1', '--overlap', '24h']);
  expect(isWellFormedKey(rotated.out.trim())).toBe(true);
  expect((await runCli(['keys', 'list'])).out).toMatch(
    /^1 .* valid until [\d-]+ [\d:]+; replaced by id 2 since [\d-]+ [\d:]+; calls with this one since then: 0\n2 .* valid$/m,
  );
  expect((await runCli(['keys', 'show', '2'])).out).toMatch(/^networks +10\.0\.0\.0\/8, ::1\/128$/m);
  expect((await runCli(['keys', 'rotate', '1', '--overlap', 'soon'])).err).toContain('write 30m, 24h or 7d');
  const usual = ['--scope', 'run', '--amount', '5', '--period', 'once', '--reserve', 'p99'];
  expect((await runCli(['budgets', 'create', 'Agents', ...usual, '--json'])).out).toContain('"reserves":"usual"');
  expect((await runCli(['login'])).out).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/login#code=[\w-]{43}\n$/);
  expect((await runCli(['keys', 'revoke', '1'])).out).toContain('Key 1 (my laptop) is revoked');
  expect(await runCli(['keys', 'revoke', '99'])).toMatchObject({ code: 1, out: '' });

  const spool = openSpoolWriter({ dir: join(dir, 'spool', 'proxy-1'), durability: 'process', log: quietLog() });
  const begin = callBegin(1, { traceId: 'trip\u001b[2J', spanPath: 'plan/search%201', keyId: 1 });
  await new Promise<boolean>((resolve) => spool.end(begin, callEnd(1), [], resolve));
  const headers = { authorization: `Bearer ${TOKEN}` };
  await until(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/logs`, { headers });
    return (await response.text()).includes('"trip');
  });

  const logs = await runCli(['logs', '--filter', 'model:prefix:gpt', '--limit', '5']);
  expect(logs.out.split('\n')[1]).toMatch(/^2026-11-28 12:00:00.001 {2}200 +openai +gpt-5-2025-08-07 +trip\\x1b\[2J/);
  expect(logs.out).not.toContain('\u001b');
  expect(await runCli(['logs', '--filter', 'nosuch:eq:1'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^tollgate: There is no column "nosuch"/),
  });
  expect((await runCli(['runs'])).out).toMatch(/trip\\x1b\[2J .* 1 +0 +\$0.00017/);
  const tree = await runCli(['runs', 'trip\u001b[2J']);
  expect(tree.out).toContain('└─ plan');
  expect(tree.out).toContain('   └─ search 1');
  expect(tree.out).toContain('      └─ • gpt-5 (gpt-5-2025-08-07)');
  expect(tree.out).not.toContain('\u001b');
  expect(await runCli(['runs', 'none'])).toMatchObject({ code: 1, out: '' });

  const env = { PATH: process.env['PATH'], TOLLGATE_DATA_DIR: dir };
  const follow = spawn(process.execPath, [join(import.meta.dirname, '../../src/main.ts'), 'logs', '--follow'], { env });
  let followed = '';
  follow.stdout.on('data', (chunk: Buffer) => {
    followed += chunk.toString();
  });
  // A call for each round: the first ones may come before the stream is open.
  let number = 100;
  await until(async () => {
    number += 1;
    const fresh = callBegin(number, { keyId: 1 });
    await new Promise<boolean>((resolve) => spool.end(fresh, callEnd(number), [], resolve));
    return /^2026-11-28 12:00:00\.1\d\d {2}200 {2}openai {2}gpt-5-2025-08-07/m.test(followed);
  });
  follow.kill();

  const doctor = await runCli(['doctor']);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toContain('✓ process proxy: ready');
  expect(doctor.out).toContain('✗ nothing answers at http://127.0.0.1:1/healthz');
  expect(doctor.out).toContain(
    '! refused: 1× key_missing (latest 2026-11-28T12:00:00.000Z on /v1/\\x1b[2Jx). It came without a gateway key. Add the header X-Gateway-Key;',
  );

  supervisor.toChild({ type: 'stop', graceMs: 5_000 });
  expect(await exited).toBe(0);
  expect(logged.at(-1)).toContain('stopped; every record is in the database');
  const unreachable = await runCli(['runs']);
  expect([unreachable.code, unreachable.out]).toEqual([1, '']);
  expect(unreachable.err).toContain(`tollgate: no gateway answers at http://127.0.0.1:${port}; start it with \``);
  expect(unreachable.err).toMatch(/tollgate start --data-dir \S+`\n$/);
  const nowhere = join(dir, 'nowhere');
  expect((await runCli(['runs'], nowhere)).err).toMatch(/^tollgate: no gateway has run with the data directory .*\n$/);
});
