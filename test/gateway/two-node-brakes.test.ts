/**
 * Brakes and alerts of two gateways on one database: a loop that is spread over both is found, a pause and its end reach
 * both, and what is found is sent once, also when the database goes away while it is sent.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { openTestPool } from '../support/open-migrated.ts';
import { POSTGRES_KINDS, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const LONG_MS = 120_000;

interface Told {
  readonly id: string;
  readonly title: string;
}

const [kind] = POSTGRES_KINDS;
const told: Told[] = [];
/** Runs before the receiver answers the first time to what has this title. */
let beforeAnswer: { readonly title: string; readonly run: () => Promise<void> } | null = null;
let server: TestPostgres;
let pool: pg.Pool;
let provider: ScriptedProvider;
let receiver: Server;
let nodes: readonly TestGateway[] = [];
/** Of the first node; the other one hears of it from the database. */
let key: string;

beforeAll(async () => {
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  server = await startPostgres(kind);
  const databaseUrl = await server.createDatabase('two_nodes');
  pool = openTestPool(databaseUrl);
  pool.on('error', () => {}); // The test itself takes the database away.
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'application/json']], body: ANSWER }),
  });
  receiver = createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', async () => {
      const title = String(asRecord(asRecord(JSON.parse(body))['data'])['title']);
      told.push({ id: String(request.headers['webhook-id']), title });
      if (beforeAnswer !== null && title.startsWith(beforeAnswer.title)) {
        const { run } = beforeAnswer;
        beforeAnswer = null;
        await run();
      }
      answer.writeHead(200).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const env = {
    DATABASE_URL: databaseUrl,
    TOLLGATE_UPSTREAM_OPENAI: provider.origin,
    TOLLGATE_ALERT_HOSTS: '127.0.0.1',
  };
  const first = await startGateway({ env: { ...env, TOLLGATE_NODE: 'a' } });
  nodes = [first, await startGateway({ env: { ...env, TOLLGATE_NODE: 'b' } })];
  ({ key } = first);
});
afterAll(async () => {
  for (const node of nodes) await node.stop();
  await pool?.end();
  await server?.remove();
  await provider?.close();
  receiver?.close();
});

const nodeAt = (index: number): TestGateway => {
  const node = nodes[index];
  if (node === undefined) throw new Error('no such node');
  return node;
};

async function call(index: number, traceId: string): Promise<number> {
  const answer = await fetch(`${nodeAt(index).base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-proj-0123456789abcdef',
      'x-gateway-key': key,
      'x-gateway-trace-id': traceId,
    },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Where is the total made?' }],
    }),
  });
  await answer.text();
  return answer.status;
}

const send = async (index: number, method: 'POST' | 'PUT', path: string, body: object = {}) =>
  asRecord(await nodeAt(index).api(`/api/v1/${path}`, { method, body: JSON.stringify(body) }));

const untilBoth = (status: number, traceId: string) =>
  Promise.all(
    [0, 1].map((index) =>
      waitUntil(
        `node ${index} answers ${status}`,
        async () => ((await call(index, traceId).catch(() => 0)) === status ? true : undefined),
        LONG_MS,
      ),
    ),
  );

const titlesOf = (start: string) => told.filter(({ title }) => title.startsWith(start)).map(({ title }) => title);

test('a loop over two nodes is found, paused on both and resumed on both, and told once', async () => {
  const { id } = await send(0, 'POST', 'alert-destinations', {
    kind: 'webhook',
    name: 'pager',
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
  });
  await send(1, 'POST', 'alerts', { name: 'runaway', kind: 'brake', destinations: [id] });
  await send(0, 'PUT', 'brakes/same_prefix/run', { action: 'pause', settings: { times: 6 } });
  // The other node may not know the key yet.
  await untilBoth(200, 'warm');
  for (let number = 0; number < 6; number += 1) expect(await call(number % 2, 'spread')).toBe(200);
  await untilBoth(429, 'spread');
  const { rows } = await pool.query("select id, rule, value from brake_hits where value = 'spread'");
  expect(rows).toEqual([{ id: expect.anything(), rule: 'same_prefix', value: 'spread' }]);
  await waitUntil('the hit is told', () => (titlesOf('runaway').length > 0 ? true : undefined), LONG_MS);

  // Each node hears of what the other one is told.
  await send(1, 'POST', `brakes/hits/${String(rows[0]?.id)}/resume`);
  await untilBoth(200, 'spread');
  const byHand = await send(1, 'POST', 'brakes/pauses', { scope: 'run', value: 'warm', reason: 'enough' });
  await untilBoth(429, 'warm');
  await send(0, 'POST', `brakes/hits/${String(byHand['id'])}/resume`);
  await untilBoth(200, 'warm');
  expect(titlesOf('runaway')).toEqual(['runaway: run spread is paused']);
});

test('a budget, a failed job and a silent node are told once each, by one of the nodes', async () => {
  const destinations = (await pool.query<{ id: number }>('select id from alert_destinations')).rows.map(({ id }) => id);
  const alert = (name: string, of: string, settings = {}) =>
    send(0, 'POST', 'alerts', { name, kind: of, destinations, settings });
  await alert('money', 'budget', { percent: 80 });
  await alert('work', 'jobs');
  await alert('machines', 'nodes');
  await send(0, 'POST', 'budgets', { name: 'drop', scope: 'run', amount_usd: '0.000001', period: 'once', hard: false });
  await pool.query(
    `insert into jobs (account_id, kind, title, input, phase, unit, state, error, finished_at)
     values (1, 'none', 'Prices again', '{}', 'rows', 'rows', 'failed', 'the disk is full', now() + interval '1 second')`,
  );
  await pool.query(
    `insert into nodes (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, processes, own_settings)
     values ($1, 'c', 'lost', '0.2.0', $2, now() - interval '1 hour', now() - interval '30 minutes', 0, '{}', '{}')`,
    [randomUUID(), randomUUID()],
  );
  for (const index of [0, 1]) expect(await call(index, 'dear')).toBe(200);
  const wanted = [
    'machines: the node c is silent',
    'money: budget drop is spent to 80 %',
    'work: the job "Prices again" has failed',
  ];
  const found = () =>
    told
      .map(({ title }) => title)
      .filter((title) => !title.startsWith('runaway'))
      .sort();
  await waitUntil('all three are told', () => (found().length >= wanted.length ? true : undefined), LONG_MS);
  // Two more calls are looked at, and nothing is told again.
  for (const index of [0, 1]) await call(index, 'dear');
  await pool.query('update alerts set checked_at = null');
  await waitUntil(
    'the alerts are looked at again',
    async () => ((await pool.query('select from alerts where checked_at is null')).rowCount === 0 ? true : undefined),
    LONG_MS,
  );
  expect(found()).toEqual(wanted);
});

test('a database that goes away while an alert is sent: nothing is lost, and what comes again has the same id', async () => {
  const destinations = (await pool.query<{ id: number }>('select id from alert_destinations')).rows.map(({ id }) => id);
  const gone = Promise.withResolvers<void>();
  // The receiver has it, and the node that sent it cannot note that.
  beforeAnswer = { title: 'busy', run: () => server.stop().finally(gone.resolve) };
  await send(0, 'POST', 'alerts', {
    name: 'busy',
    kind: 'question',
    destinations,
    settings: { measure: 'calls', window_seconds: 3_600, threshold: '1' },
  });
  await gone.promise;
  for (const node of nodes)
    await waitUntil(
      'the node knows that the database is away',
      async () => ((await (await fetch(`${node.adminBase}/readyz`)).text()).includes('"down"') ? true : undefined),
      LONG_MS,
    );
  await server.start();
  const states = await waitUntil(
    'it is noted as sent',
    async () => {
      const { rows } = await pool
        .query<{ state: string }>(
          "select v.state from alert_deliveries v join alert_events e on e.id = v.event_id where e.title like 'busy%'",
        )
        .catch(() => ({ rows: [] }));
      return rows.length > 0 && rows.every(({ state }) => state === 'sent') ? rows : undefined;
    },
    LONG_MS,
  );
  expect(states).toHaveLength(1);
  const ids = told.filter(({ title }) => title.startsWith('busy')).map(({ id }) => id);
  expect([ids.length >= 1, new Set(ids).size]).toEqual([true, 1]);
});
