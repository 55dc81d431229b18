/**
 * One node with the role `control` and two with the role `proxy` on one PostgreSQL: calls go through the proxies, keys and
 * whatever is done for all come from control, and each side lives while the other is away.
 */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildBatch } from '../../src/control/shipper/build-batch.ts';
import { openIngestSession } from '../../src/control/shipper/ingest-session.ts';
import { makeCertificate } from '../proxy/make-certificate.ts';
import { callBegin, callEnd, priceByToken } from '../support/call-fixtures.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { makeNode, type RoleNode } from './node-of-role.ts';
import { runTollgate } from './run-tollgate.ts';
import { makeDataDir, readAdminFile, waitUntil } from './start-gateway.ts';

const DAY_MS = 86_400_000;
const OLD_CALLS = 10;
const METRICS_TOKEN = 'metrics-metrics-metrics-metrics-1';
const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'house-1',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

const [kind] = POSTGRES_KINDS;
let server: TestPostgres;
let provider: Server;
let upstream: string;
const made: RoleNode[] = [];

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  server = await startPostgres(kind);
  provider = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(ANSWER));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address = provider.address();
  upstream = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
});
afterAll(async () => {
  await Promise.all(made.map((node) => node.stop()));
  for (const node of made) node.remove();
  provider.closeAllConnections();
  provider.close();
  await server.remove();
});

async function make(name: string, role: string, databaseUrl: string, more = {}): Promise<RoleNode> {
  const node = await makeNode(name, role, {
    DATABASE_URL: databaseUrl,
    TOLLGATE_UPSTREAM_OPENAI: upstream,
    TOLLGATE_METRICS_TOKEN: METRICS_TOKEN,
    ...more,
  });
  made.push(node);
  return node;
}

async function call(node: RoleNode, key: string): Promise<{ readonly status: number; readonly id: string }> {
  const response = await fetch(`${node.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-test',
      'x-gateway-key': key,
      'x-gateway-feature': 'search',
      'x-gateway-trace-id': 'run-1',
    },
    body: JSON.stringify({ model: 'house-1', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await response.text();
  return { status: response.status, id: String(response.headers.get('x-gateway-request-id')) };
}

async function untilStatus(node: RoleNode, key: string, status: number): Promise<void> {
  await waitUntil(`${status} at ${node.name}`, async () =>
    (await call(node, key)).status === status ? true : undefined,
  );
}

function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  }).then((open) => {
    socket.destroy();
    return open === true;
  });
}

describe('control and two proxy nodes', () => {
  let pool: pg.Pool;
  let control: RoleNode;
  let proxies: readonly [RoleNode, RoleNode];
  let key: string;
  const known = new Set<string>();

  beforeAll(async () => {
    const databaseUrl = await server.createEmptyDatabase('roles');
    pool = openTestPool(databaseUrl);
    // The proxies first, on a database without a table.
    proxies = [await make('east', 'proxy', databaseUrl), await make('west', 'proxy', databaseUrl)];
    control = await make('control', 'control', databaseUrl, { TOLLGATE_RETENTION_ROWS: '30' });
    for (const node of proxies) node.start();
    for (const node of proxies) await node.ready('proxy');
    control.start();
    await waitUntil('its banner', () => (control.output().includes('role control') ? true : undefined));
    key = /tgk_\S+/.exec(control.output())?.[0] ?? '';
  });
  afterAll(() => pool.end());

  /** Calls through one node after the other until `work` is over; each must be answered. */
  async function whileCalling<T>(nodes: readonly RoleNode[], work: () => Promise<T>): Promise<T> {
    const over = new AbortController();
    const callers = nodes.map(async (node) => {
      do {
        const { status, id } = await call(node, key);
        expect({ node: node.name, status }).toEqual({ node: node.name, status: 200 });
        known.add(id);
      } while (!over.signal.aborted);
    });
    const result = await work().finally(() => over.abort());
    await Promise.all(callers);
    return result;
  }

  async function untilStored(): Promise<void> {
    const all = [...known];
    await waitUntil('every call', async () => {
      const { rows } = await pool.query<{ id: string }>('select id from llm_requests');
      const stored = new Set(rows.map(({ id }) => id));
      return all.every((id) => stored.has(id)) ? true : undefined;
    });
  }

  test('the first key is made and shown by control, calls through both proxies are stored, and no port is bound for nothing', async () => {
    for (const node of proxies) {
      expect(node.output()).not.toContain('tgk_');
      await untilStatus(node, key, 200);
    }
    await whileCalling(proxies, () => waitUntil('some calls', () => (known.size >= 20 ? true : undefined)));
    await untilStored();
    const { rows } = await pool.query('select distinct node from llm_requests order by node');
    expect(rows).toEqual([{ node: 'east' }, { node: 'west' }]);
    expect(await isOpen(control.port)).toBe(false);
    // Settings of a node that only takes calls are no word on what all keep, though it came first.
    expect((await runTollgate(control.dataDir, ['settings'])).stdout).toMatch(/retention_rows +30 /);
    const listed = await runTollgate(control.dataDir, ['nodes']);
    expect(listed.stdout).toMatch(/east +proxy +live/);
    expect(listed.stdout).toMatch(/control \* +control +live/);
    const { stdout, code } = await runTollgate(control.dataDir, ['doctor']);
    expect(stdout).toContain('this node takes no calls (role control)');
    expect({ stdout, code }).toMatchObject({ code: 0 });
  });

  test('a key that control makes opens both proxies, and is refused by both when it is revoked there', async () => {
    const created = await control.api('/api/v1/keys', { method: 'POST', body: '{"name":"short-lived"}' });
    for (const node of proxies) await untilStatus(node, String(created['key']), 200);
    await control.api(`/api/v1/keys/${String(created['id'])}`, { method: 'DELETE' });
    for (const node of proxies) {
      await untilStatus(node, String(created['key']), 401);
      await waitUntil('its log', () => (node.output().includes('"code":"key_revoked"') ? true : undefined));
      expect(node.output()).not.toContain(String(created['key']));
    }
  });

  test('the admin port of a proxy node says how it is and where the rest is, and nothing else to anybody', async () => {
    const [east] = proxies;
    const { token } = readAdminFile(east.dataDir);
    expect(await east.admin('/healthz')).toEqual({ status: 200, text: '{"status":"ok"}' });
    expect(await east.admin('/readyz')).toEqual({
      status: 200,
      text: '{"status":"ok","database":"up","problem":null}',
    });
    const paths = [
      '/',
      '/login',
      '/index.html',
      '/assets/x.js',
      '/api/v1/status',
      '/api/v1/keys',
      '/api/v1/openapi.json',
    ];
    for (const path of [...paths, '/metrics/x'])
      for (const asked of [{}, { token }, { token, method: 'POST' }]) {
        const { status, text } = await east.admin(path, asked);
        expect({ path, status }).toEqual({ path, status: 404 });
        expect(text).toContain('This node only takes calls (TOLLGATE_ROLE=proxy). Dashboard, API and commands are at');
      }
    expect((await east.admin('/metrics')).status).toBe(401);
    expect((await east.admin('/metrics', { token: 'wrong' })).status).toBe(401);
    const metrics = await east.admin('/metrics', { token: METRICS_TOKEN });
    expect(metrics.text).toMatch(/tollgate_calls_stored_total [1-9]/);
    const asked = await runTollgate(east.dataDir, ['keys', 'create', 'x']);
    expect(asked).toMatchObject({ code: 1, stdout: '' });
    expect(asked.stderr).toMatch(/^tollgate: This node only takes calls .* give commands its --url and --token\.\n$/);
  });

  test('a proxy node restarts its processes for its own admin token, and refuses no call meanwhile', async () => {
    const [east] = proxies;
    const ask = (token?: string) =>
      east.admin('/api/v1/restart', { method: 'POST', ...(token === undefined ? {} : { token }) });
    expect((await ask()).status).toBe(401);
    expect((await ask(METRICS_TOKEN)).status).toBe(401);
    const ran = await whileCalling([east], () => runTollgate(east.dataDir, ['restart', '--json']));
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(ran.stdout)).toMatchObject({ restart: 1, problem: null });
    await untilStored();
  });

  test('while control is away calls go on and are stored, and at its next start it drops what is too old', async () => {
    const requestedAtMs = Date.now() - 200 * DAY_MS;
    const session = await openIngestSession(pool);
    const entries = Array.from({ length: OLD_CALLS }, (_, index) => {
      const begin = callBegin(index + 1, { requestedAtMs: requestedAtMs + index });
      return { type: 'end', begin, end: callEnd(index + 1) } as const;
    });
    await session.ingest(buildBatch(entries, { process: 'p', priceCall: priceByToken, nowMs: requestedAtMs }).items);
    session.close();
    const { rows } = await pool.query<{ name: string }>(
      "select relname as name from pg_class where obj_description(oid, 'pg_class') like 'made late at %'",
    );
    for (const { name } of rows) await pool.query(`comment on table ${name} is null`);
    await whileCalling(proxies, async () => {
      expect(await control.stop()).toBe(0);
      const before = known.size;
      await waitUntil('calls without it', () => (known.size > before + 100 ? true : undefined), 60_000);
      await untilStored();
      control.start();
      await control.ready('admin');
      await waitUntil('the old day is gone', async () => {
        const old = await pool.query("select from llm_requests where requested_at < now() - interval '100 days'");
        return old.rowCount === 0 ? true : undefined;
      });
    });
    await waitUntil('its banner', () => (control.output().includes('role control') ? true : undefined));
    // It had its first key.
    expect(control.output()).not.toContain('tgk_');
  });

  test('a key is promoted and calls are priced again by control while the proxies write, and every sum is right', async () => {
    await whileCalling(proxies, async () => {
      const promoted = await runTollgate(control.dataDir, ['metadata', 'promote', 'Feature']);
      expect(promoted).toMatchObject({ code: 0 });
      const priced = ['prices', 'set', 'openai', 'house-1', '--input', '2', '--output', '4', '--yes'];
      expect(await runTollgate(control.dataDir, priced)).toMatchObject({ code: 0 });
      // Each node prices what it stores.
      for (const node of proxies)
        await waitUntil(`prices of ${node.name}`, async () => {
          const latest = 'select total_cost from llm_requests where node = $1 order by id desc limit 1';
          const { rows } = await pool.query(latest, [node.name]);
          return rows[0]?.total_cost == null ? undefined : true;
        });
      const again = ['reprice', '--model', 'house-1', '--apply', '--reason', 'a contract'];
      expect(await runTollgate(control.dataDir, again)).toMatchObject({ code: 0 });
    });
    await untilStored();
    const { rows } = await pool.query(
      `select count(*) filter (where total_cost is null) as unpriced from llm_requests where model_requested = 'house-1'`,
    );
    expect(rows).toEqual([{ unpriced: 0 }]);
    const verified = await runTollgate(control.dataDir, ['verify']);
    expect(verified.stdout).toMatch(/roll-ups: 0 differences/);
    expect(verified.code).toBe(0);
  });

  test('a proxy node that is killed and started again has lost none of its calls', async () => {
    const [east, west] = proxies;
    await whileCalling([west], async () => {
      await whileCalling([east], () => waitUntil('some', () => (known.size % 50 === 0 ? true : undefined)));
      await east.kill();
      east.start();
      await east.ready('proxy');
      await untilStatus(east, key, 200);
    });
    await untilStored();
    const verified = await runTollgate(control.dataDir, ['verify']);
    expect(verified.stdout).toMatch(/roll-ups: 0 differences/);
    expect(verified.code).toBe(0);
  });
});

test('a proxy node whose database is away takes no calls before it has its keys, says why, and takes them with its last ones', async () => {
  const databaseUrl = await server.createDatabase('roles_away');
  const control = await make('keeper', 'control', databaseUrl);
  control.start();
  await waitUntil('its key', () => (control.output().includes('tgk_') ? true : undefined));
  const key = /tgk_\S+/.exec(control.output())?.[0] ?? '';
  expect(await control.stop()).toBe(0);
  await server.stop();
  const proxy = await make('edge', 'proxy', databaseUrl);
  proxy.start();
  await proxy.ready('proxy', 503);
  await proxy.ready('admin', 503);
  expect((await call(proxy, key)).status).toBe(503);
  const asked = JSON.parse((await proxy.admin('/readyz')).text);
  expect(asked).toEqual({
    status: 'no_keys',
    database: 'down',
    problem: 'There are no keys yet: this node has to reach its database once. Its log says why it does not.',
  });
  expect(proxy.output()).toContain('this node has no keys yet');
  await server.start();
  await proxy.ready('proxy');
  await untilStatus(proxy, key, 200);
  const pool = openTestPool(databaseUrl);
  await pool.query("update nodes set seen_at = seen_at - interval '16 minutes' where name = 'keeper'");
  await pool.end();
  await waitUntil('its log', () => (proxy.output().includes('no node with the role') ? true : undefined), 60_000);
  const { stderr } = await runTollgate(proxy.dataDir, ['doctor']);
  expect(stderr).toMatch(/Of this node: no node with the role "control" or "all" has given a sign of life/);

  await server.stop();
  expect(await proxy.stop()).toBe(0);
  proxy.start();
  await proxy.ready('proxy');
  expect((await call(proxy, key)).status).toBe(200);
  await server.start();
  // One that joins a database with keys makes and shows none, though its data directory is new.
  const second = await make('second', 'control', databaseUrl);
  second.start();
  await waitUntil('its banner', () => (second.output().includes('role control') ? true : undefined));
  expect(second.output()).not.toContain('tgk_');
});

test('with TLS for all nodes control leads to https, and a proxy node says itself what is wrong with its certificate', async () => {
  const dir = makeDataDir();
  const files = { TOLLGATE_TLS_CERT: join(dir, 'tls.crt'), TOLLGATE_TLS_KEY: join(dir, 'tls.key') };
  const { cert, key } = makeCertificate({ names: 'DNS:localhost,IP:127.0.0.1' });
  writeFileSync(files.TOLLGATE_TLS_CERT, cert);
  writeFileSync(files.TOLLGATE_TLS_KEY, key);
  const databaseUrl = await server.createDatabase('roles_tls');
  const control = await make('keeper-tls', 'control', databaseUrl, {
    ...files,
    TOLLGATE_TLS_CERT: join(dir, 'nowhere'),
  });
  const proxy = await make('edge-tls', 'proxy', databaseUrl, files);
  control.start();
  proxy.start();
  await control.ready('admin');
  await proxy.ready('admin');
  expect(await control.api('/api/v1/status')).toMatchObject({ base_url: `https://127.0.0.1:${control.port}` });

  const { token } = readAdminFile(proxy.dataDir);
  expect(JSON.parse((await proxy.admin('/readyz', { token })).text)).toMatchObject({ problem: null });
  writeFileSync(files.TOLLGATE_TLS_KEY, 'half');
  await waitUntil('what is wrong', async () =>
    (await proxy.admin('/readyz', { token })).text.includes('TOLLGATE_TLS_KEY') ? true : undefined,
  );
  const { stderr } = await runTollgate(proxy.dataDir, ['doctor']);
  expect(stderr).toMatch(/Of this node: the certificate before stays in force: TOLLGATE_TLS_KEY: .* is not in PEM/);
  expect((await proxy.admin('/readyz')).text).toContain('"problem":null');
  rmSync(dir, { recursive: true });
});
