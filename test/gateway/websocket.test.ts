/**
 * Websockets through a whole gateway: a row for each turn with its cost, as it ends, under the row of its connection; and
 * what is left when the proxy process is killed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startWebsocketProvider, type WebsocketProvider } from '../proxy/websocket-provider.ts';
import { asRecord, startGateway, type TestGateway } from './start-gateway.ts';

let provider: WebsocketProvider;
let gateway: TestGateway;

const DONE = {
  type: 'response.done',
  response: {
    id: 'resp_1',
    usage: {
      total_tokens: 3_000,
      input_tokens: 2_000,
      output_tokens: 1_000,
      input_token_details: {
        text_tokens: 500,
        audio_tokens: 1_500,
        cached_tokens: 600,
        cached_tokens_details: { text_tokens: 100, audio_tokens: 500 },
      },
      output_token_details: { text_tokens: 200, audio_tokens: 800 },
    },
  },
};

beforeAll(async () => {
  provider = await startWebsocketProvider((session) => {
    session.send(JSON.stringify({ type: 'session.created', session: { model: 'gpt-realtime' } }));
    session.on('message', (data) => {
      session.send('{"type":"response.created","response":{"id":"resp_1"}}');
      if (!String(data).includes('"wait"')) session.send(JSON.stringify(DONE));
    });
  });
  gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

interface Session {
  readonly client: WebSocket;
  /** Of its record. */
  readonly id: string;
  readonly takeTurn: () => Promise<void>;
}

/** Opens a session and takes `turns`, one after the other. */
async function openSession(turns: number, key = gateway.key): Promise<Session> {
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime?model=gpt-realtime`, {
    headers: { 'X-Gateway-Key': key, 'X-Gateway-Trace-Id': 'talk', 'X-Gateway-Span-Path': 'agent/ears' },
  });
  client.on('error', () => {});
  const id = new Promise<string>((resolve) => {
    client.once('upgrade', ({ headers }) => resolve(String(headers['x-gateway-request-id'])));
  });
  await new Promise<void>((resolve) => client.once('open', () => resolve()));
  const takeTurn = () =>
    new Promise<void>((resolve) => {
      const onMessage = (data: unknown) => {
        if (!String(data).includes('response.done')) return;
        client.off('message', onMessage);
        resolve();
      };
      client.on('message', onMessage);
      client.send('{"type":"response.create"}');
    });
  for (let turn = 0; turn < turns; turn += 1) await takeTurn();
  return { client, id: await id, takeTurn };
}

/** The rows of a connection's turns, in the order of their beginning, once there are so many. */
async function waitForTurns(connection: string, count: number): Promise<readonly Record<string, unknown>[]> {
  const filter = `f=connection_id:eq:${connection}&f=id:ne:${connection}&sort=requested_at`;
  return waitForRows(`/api/v1/logs?${filter}`, count);
}

async function waitForRows(path: string, count: number): Promise<readonly Record<string, unknown>[]> {
  for (;;) {
    const { data } = asRecord(await gateway.api(path));
    const rows = Array.isArray(data) ? data.map(asRecord) : [];
    if (rows.length >= count) return rows;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const TURN = {
  endpoint: 'realtime',
  status: 101,
  outcome: 'ok',
  model: 'gpt-realtime',
  trace_id: 'talk',
  span_path: 'agent/ears',
  usage: { input: 400, input_audio: 1_000, cache_read: 100, cache_read_audio: 500, output: 200, output_audio: 800 },
  usage_source: 'provider',
  cost_status: 'exact',
  // 400 × $4 + 1,000 × $32 + 100 × $0.4 + 500 × $0.4 + 200 × $16 + 800 × $64, per million.
  total_cost: '0.08824',
};

test('a session of ten turns is seen turn by turn while it is open, and then with its end', async () => {
  const { client, id, takeTurn } = await openSession(1);
  for (const count of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
    expect(await waitForTurns(id, count)).toMatchObject(
      Array.from({ length: count }, () => ({ ...TURN, connection_id: id })),
    );
    if (count < 10) await takeTurn();
  }
  const open = asRecord(await gateway.api(`/api/v1/logs/open?f=connection_id:eq:${id}`));
  expect(open).toMatchObject({ data: [{ id, connection_id: id, endpoint: 'realtime' }], total: 1 });

  client.close(1000);
  expect(await gateway.waitForLog(id)).toMatchObject({
    connection_id: id,
    method: 'GET',
    status: 101,
    outcome: 'ok',
    streamed: true,
    usage: null,
    cost_status: 'not_billed',
    total_cost: '0',
    flags: ['usage_in_turns'],
  });
  const [run] = await waitForRows('/api/v1/runs', 1);
  expect(run).toMatchObject({ trace_id: 'talk', calls: 11, total_cost: '0.8824', unpriced_calls: 0 });
});

test('of a killed proxy process no finished turn is lost, and the one under way is interrupted', async () => {
  const { client, id, takeTurn } = await openSession(4);
  await takeTurn();
  // The client has just been given the end of the fifth turn, and asks for the next one.
  const begun = new Promise<void>((resolve) => {
    client.on('message', (data) => String(data).includes('response.created') && resolve());
  });
  client.send('{"type":"response.create","response":{"metadata":{"wait":"yes"}}}');
  await begun;
  const proxy = (await gateway.processes()).find(({ role }) => role.startsWith('proxy'));
  if (proxy?.pid == null) throw new Error('no proxy process');
  process.kill(proxy.pid, 'SIGKILL');
  expect(await gateway.waitForLog(id)).toMatchObject({
    outcome: 'interrupted',
    status: 101,
    cost_status: 'not_billed',
  });
  const turns = await waitForTurns(id, 6);
  expect(turns.slice(0, 5)).toMatchObject(Array.from({ length: 5 }, () => TURN));
  expect(turns[5]).toMatchObject({ outcome: 'interrupted', usage: null, cost_status: 'no_usage' });
});

test.each([
  ['revoked', 'DELETE', '', undefined, 'the gateway key was revoked', 'key_revoked'],
  ['rotated', 'POST', '/rotate', '{"overlap_seconds":1}', 'the gateway key has expired', 'key_expired'],
])('a session whose key is %s ends, with a reason and on the record', async (_, method, path, body, reason, type) => {
  const made = asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body: '{"name":"soon over"}' }));
  const { client, id } = await openSession(1, String(made['key']));
  const closed = new Promise((resolve) => client.once('close', (code, text) => resolve([code, String(text)])));
  await gateway.api(`/api/v1/keys/${made['id']}${path}`, { method, ...(body === undefined ? {} : { body }) });
  expect(await closed).toEqual([1008, reason]);
  expect(await gateway.waitForLog(id)).toMatchObject({ status: 101, outcome: 'shutdown_cut', error_type: type });
});
