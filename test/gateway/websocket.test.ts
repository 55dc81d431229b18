/**
 * Websockets through a whole gateway: one row a connection with the cost of all its turns, and what is left of one when
 * the proxy process is killed.
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
    session.on('message', () => session.send(JSON.stringify(DONE)));
  });
  gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
});
afterAll(async () => {
  await gateway?.stop();
  await provider?.close();
});

/** Opens a session, takes `turns`, and tells the id of its record. */
async function openSession(turns: number, key = gateway.key): Promise<{ client: WebSocket; id: string }> {
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime?model=gpt-realtime`, {
    headers: { 'X-Gateway-Key': key, 'X-Gateway-Trace-Id': 'talk' },
  });
  client.on('error', () => {});
  const id = new Promise<string>((resolve) => {
    client.once('upgrade', ({ headers }) => resolve(String(headers['x-gateway-request-id'])));
  });
  await new Promise<void>((resolve) => {
    let left = turns;
    client.on('open', () => {
      for (let turn = 0; turn < turns; turn += 1) client.send('{"type":"response.create"}');
    });
    client.on('message', (data) => {
      if (String(data).includes('response.done')) left -= 1;
      if (left === 0) resolve();
    });
  });
  return { client, id: await id };
}

test('a session of three turns is one row, with the cost of all three', async () => {
  const { client, id } = await openSession(3);
  client.close(1000);
  const row = await gateway.waitForLog(id);
  expect(row).toMatchObject({
    endpoint: 'realtime',
    method: 'GET',
    status: 101,
    outcome: 'ok',
    streamed: true,
    model: 'gpt-realtime',
    trace_id: 'talk',
    usage: {
      input: 1_200,
      input_audio: 3_000,
      cache_read: 300,
      cache_read_audio: 1_500,
      output: 600,
      output_audio: 2_400,
    },
    usage_source: 'provider',
    cost_status: 'exact',
    // 1,200 × $4 + 3,000 × $32 + 300 × $0.4 + 1,500 × $0.4 + 600 × $16 + 2,400 × $64, per million.
    total_cost: '0.26472',
  });
});

test('what a session had used stands when its proxy process is killed', async () => {
  const { id } = await openSession(2);
  // The first turn is in a checkpoint at once, the second one within a second.
  await new Promise((resolve) => setTimeout(resolve, 1_300));
  const proxy = (await gateway.processes()).find(({ role }) => role.startsWith('proxy'));
  if (proxy?.pid == null) throw new Error('no proxy process');
  process.kill(proxy.pid, 'SIGKILL');
  expect(await gateway.waitForLog(id)).toMatchObject({
    outcome: 'interrupted',
    status: 101,
    usage: { output_audio: 1_600 },
    usage_source: 'partial',
    cost_status: 'partial',
  });
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
