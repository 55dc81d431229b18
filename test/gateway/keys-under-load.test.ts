/**
 * Keys and limits of real gateways under load: limits that two processes share, a killed one, two nodes, and a key that is
 * rotated and revoked while clients use it on both.
 */
import { createServer, type Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const [kind] = POSTGRES_KINDS;
let database: TestPostgres;
let provider: Server;
let first: TestGateway;
let second: TestGateway | null = null;
let env: Readonly<Record<string, string>>;
/** Streams that the provider has open, and the most that it had at once. */
const streams = { open: 0, most: 0 };

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  database = await startPostgres(kind);
  provider = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      if (!body.includes('"stream":true')) {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        return;
      }
      streams.open += 1;
      streams.most = Math.max(streams.most, streams.open);
      response.once('close', () => {
        streams.open -= 1;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"1","object":"chat.completion.chunk","choices":[]}\n\n');
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const address = provider.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  env = {
    DATABASE_URL: await database.createDatabase('keys_under_load'),
    TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${port}`,
  };
  first = await startGateway({ env: { ...env, TOLLGATE_NODE: 'first', TOLLGATE_WORKERS: '2' } });
}, 120_000);

afterAll(async () => {
  await Promise.all([first, second].map((node) => node?.stop()));
  provider.closeAllConnections();
  provider.close();
  await database.remove();
}, 120_000);

interface MadeKey {
  readonly id: number;
  readonly key: string;
}

async function makeKey(settings: object): Promise<MadeKey> {
  const body = JSON.stringify({ name: 'made', ...settings });
  const made = asRecord(await first.api('/api/v1/keys', { method: 'POST', body }));
  return { id: Number(made['id']), key: String(made['key']) };
}

function call(node: TestGateway, key: string, more: RequestInit & { readonly stream?: boolean } = {}) {
  const { stream = false, ...init } = more;
  return fetch(`${node.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-key': key, 'content-type': 'application/json', authorization: 'Bearer sk-1' },
    body: JSON.stringify({ model: 'm', stream }),
    ...init,
  });
}

async function outcome(node: TestGateway, key: string): Promise<string> {
  const answer = await call(node, key);
  await answer.arrayBuffer();
  return answer.status === 200 ? 'passed' : (answer.headers.get('x-gateway-error') ?? String(answer.status));
}

test('two processes keep a limit of requests as one would, however calls are spread', async () => {
  const { id, key } = await makeKey({ requests_per_minute: 120 });
  const startedMs = performance.now();
  const seen = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const outcomes: string[] = [];
      for (let one = 0; one < 12; one += 1) outcomes.push(await outcome(first, key));
      return outcomes;
    }),
  );
  const minutes = (performance.now() - startedMs) / 60_000;
  const passed = seen.flat().filter((each) => each === 'passed').length;
  expect(seen.flat().filter((each) => each !== 'passed' && each !== 'rate_limit_exceeded')).toEqual([]);
  expect(passed).toBeGreaterThanOrEqual(120);
  // What flowed back meanwhile, and two that each process may use a second later than it took them.
  expect(passed).toBeLessThanOrEqual(Math.ceil(120 * (1 + minutes)) + 4);
  const { data } = asRecord(await first.api('/api/v1/keys'));
  const listed = Array.isArray(data) ? data.map(asRecord).find((each) => each['id'] === id) : undefined;
  const used = Number(asRecord(listed?.['limit_use'])['requests']);
  expect([used > 0, used <= 120]).toEqual([true, true]);
}, 60_000);

test('calls at once are never more than the limit, and those of a killed process make room', async () => {
  const { key } = await makeKey({ max_concurrent: 4 });
  streams.most = 0;
  const open: Response[] = [];
  const more = async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => call(first, key, { stream: true })));
    for (const answer of answers) {
      if (answer.status === 200) open.push(answer);
      else expect([answer.status, answer.headers.get('x-gateway-error')]).toEqual([429, 'concurrency_limit_exceeded']);
    }
  };
  await more();
  expect([streams.open, open.length]).toEqual([4, 4]);
  const proxies = (await first.processes()).filter(({ role }) => role === 'proxy');
  expect(proxies).toHaveLength(2);
  for (const { pid } of proxies.slice(0, 1)) if (pid !== null) process.kill(pid, 'SIGKILL');
  // Which process had how many is the system's choice, so the other one is killed as well.
  await waitUntil('a process took its place', async () =>
    (await first.processes()).filter(({ role, state }) => role === 'proxy' && state === 'ready').length === 2
      ? true
      : undefined,
  );
  for (const { pid } of proxies.slice(1)) if (pid !== null) process.kill(pid, 'SIGKILL');
  await waitUntil('the provider is rid of them', () => (streams.open === 0 ? true : undefined));
  await waitUntil('there is room again', async () => {
    await more().catch(() => {});
    return streams.open === 4 ? true : undefined;
  });
  expect(streams.most).toBe(4);
  await Promise.all(open.map((answer) => answer.body?.cancel().catch(() => {})));
  await waitUntil('all have ended', () => (streams.open === 0 ? true : undefined));
}, 90_000);

test('two nodes have half of a limit each', async () => {
  second = await startGateway({ env: { ...env, TOLLGATE_NODE: 'second' } });
  const limit = (node: TestGateway) =>
    waitUntil('its share is told', async () => {
      const { key } = await makeKey({ requests_per_minute: 2 });
      // The other node has the key a moment later.
      if ((await outcome(node, key)) === 'key_unknown') return undefined;
      return (await outcome(node, key)) === 'rate_limit_exceeded' ? true : undefined;
    });
  await Promise.all([limit(first), limit(second)]);
}, 120_000);

test('at a rotation no call is refused, and once a revocation was answered none is let through', async () => {
  const nodes = [first, second].filter((node) => node !== null);
  const old = await makeKey({});
  await Promise.all(
    nodes.map((node) =>
      waitUntil('the key is known', async () => ((await outcome(node, old.key)) === 'passed' ? true : undefined)),
    ),
  );
  let current = old.key;
  let isOver = false;
  const seen: {
    readonly node: TestGateway;
    readonly key: string;
    readonly begunMs: number;
    readonly outcome: string;
  }[] = [];
  const clients = nodes.flatMap((node) =>
    Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const key = current;
        const begunMs = performance.now();
        seen.push({ node, key, begunMs, outcome: await outcome(node, key) });
      }
    }),
  );
  // Clients of the old key that nobody moves.
  let isHeld = true;
  const held = nodes.flatMap((node) =>
    Array.from({ length: 2 }, async () => {
      while (isHeld) {
        const begunMs = performance.now();
        seen.push({ node, key: 'held', begunMs, outcome: await outcome(node, old.key) });
      }
    }),
  );
  await sleep(300);
  const body = JSON.stringify({ overlap_seconds: 3600 });
  const rotated = asRecord(await first.api(`/api/v1/keys/${old.id}/rotate`, { method: 'POST', body }));
  const next = String(rotated['key']);
  // A client is given the new half when the node that it calls has it: at once here, within a second elsewhere.
  await Promise.all(
    nodes.map((node) =>
      waitUntil('the new half', async () => ((await outcome(node, next)) === 'passed' ? true : undefined)),
    ),
  );
  current = next;
  await waitUntil('the new half is used everywhere', () =>
    nodes.every((node) => seen.some((each) => each.node === node && each.key === next)) ? true : undefined,
  );
  expect(seen.filter((each) => each.outcome !== 'passed')).toEqual([]);

  const deletedMs = performance.now();
  await first.api(`/api/v1/keys/${old.id}`, { method: 'DELETE' });
  const answeredMs = performance.now();
  await Promise.all(
    nodes.map((node) =>
      waitUntil('it is refused', async () => ((await outcome(node, old.key)) === 'key_revoked' ? true : undefined)),
    ),
  );
  const refusedMs = performance.now();
  await sleep(200);
  isHeld = false;
  isOver = true;
  await Promise.all([...clients, ...held]);
  // The new half never is.
  expect(seen.filter(({ key, outcome: each }) => key === next && each !== 'passed')).toEqual([]);
  const ofOld = seen.filter(({ key }) => key === 'held');
  expect(ofOld.filter((each) => each.begunMs < deletedMs - 1_000 && each.outcome !== 'passed')).toEqual([]);
  const late = (node: TestGateway, fromMs: number) =>
    ofOld.filter((each) => each.node === node && each.begunMs > fromMs && each.outcome === 'passed').length;
  expect(late(first, answeredMs)).toBe(0);
  expect(nodes.map((node) => late(node, refusedMs))).toEqual([0, 0]);
}, 120_000);
