/** Brakes on a whole gateway: what is paused is refused in every protocol, also after a kill and a restart, until it is resumed. */
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startWebsocketProvider, type WebsocketProvider } from '../proxy/websocket-provider.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { runTollgate } from './run-tollgate.ts';
import { asRecord, startGateway, type TestGateway, waitUntil } from './start-gateway.ts';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});

let provider: ScriptedProvider;
let sockets: WebsocketProvider;
let gateway: TestGateway;
let env: Readonly<Record<string, string>>;
/** Of the first start; a later one makes another. */
let key: string;
let forwarded = 0;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => {
      forwarded += 1;
      return buildAnswer({ headers: [['Content-Type', 'application/json']], body: ANSWER });
    },
  });
  sockets = await startWebsocketProvider((session) =>
    session.send(JSON.stringify({ type: 'session.created', session: { model: 'gpt-realtime' } })),
  );
  env = {
    TOLLGATE_UPSTREAM_OPENAI: provider.origin,
    TOLLGATE_UPSTREAM_ANTHROPIC: provider.origin,
    TOLLGATE_UPSTREAM_OPENAI_VOICE: sockets.origin,
  };
  gateway = await startGateway({ env });
  ({ key } = gateway);
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all([provider?.close(), sockets?.close()]);
});

async function call(
  traceId: string | null,
  messages: readonly object[] = [],
): Promise<{ status: number; code: string | null; text: string; id: string }> {
  const answer = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer sk-proj-0123456789abcdef',
      'x-gateway-key': key,
      ...(traceId === null ? {} : { 'x-gateway-trace-id': traceId }),
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  });
  const { headers } = answer;
  return {
    status: answer.status,
    code: headers.get('x-gateway-error'),
    text: await answer.text(),
    id: headers.get('x-gateway-request-id') ?? '',
  };
}

async function pause(asked: object): Promise<Record<string, unknown>> {
  return asRecord(await gateway.api('/api/v1/brakes/pauses', { method: 'POST', body: JSON.stringify(asked) }));
}

const resume = (id: unknown) => gateway.api(`/api/v1/brakes/hits/${String(id)}/resume`, { method: 'POST' });

const until = (what: string, isTrue: () => Promise<boolean>) =>
  waitUntil(what, async () => ((await isTrue().catch(() => false)) ? true : undefined));

test('a paused run is refused with the reason, its siblings are not, and resumed it goes on', async () => {
  expect((await call('loop')).status).toBe(200);
  const hit = await pause({ scope: 'run', value: 'loop', reason: 'too fond of one tool' });
  expect(hit).toMatchObject({ rule: 'by_hand', action: 'pause', is_paused: true, resumed_at: null, call_id: null });
  expect(hit['hit_by']).toContain('admin token');
  await until('the run is refused', async () => (await call('loop')).status === 429);

  const before = forwarded;
  const refused = await call('loop');
  expect(refused).toMatchObject({ status: 429, code: 'paused' });
  expect(refused.text).toContain(`pause ${String(hit['id'])} of this run`);
  expect(refused.text).toContain('too fond of one tool');
  expect(refused.text).toContain('tollgate brakes resume');
  expect(forwarded).toBe(before);
  expect((await call('other')).status).toBe(200);
  expect((await call(null)).status).toBe(200);
  expect(await gateway.waitForLog(refused.id)).toMatchObject({ outcome: 'rejected', status: 429, trace_id: 'loop' });

  const given = { method: 'POST', body: JSON.stringify({ scope: 'run', value: 'loop' }) };
  await expect(gateway.api('/api/v1/brakes/pauses', given)).rejects.toThrow('409');
  expect(await resume(hit['id'])).toMatchObject({ is_paused: false, resumed_at: expect.any(String) });
  await until('the run goes on', async () => (await call('loop')).status === 200);
  expect(await gateway.api('/api/v1/brakes/hits?scope=run&value=loop')).toMatchObject({ data: [{ id: hit['id'] }] });
  expect(await gateway.api('/api/v1/brakes/hits?paused=true')).toEqual({ data: [], next_cursor: null });
  await expect(resume(999_999)).rejects.toThrow('404');
  const audited = JSON.stringify(await gateway.api('/api/v1/audit?limit=10'));
  expect(audited).toContain('"action":"brake.pause"');
  expect(audited).toContain('"action":"brake.resume"');
});

test('official clients show the reason and do not try again', async () => {
  const hit = await pause({ scope: 'run', value: 'sdk', reason: 'spent $40 in five minutes' });
  await until('the run is refused', async () => (await call('sdk')).status === 429);
  const before = forwarded;
  const headers = { 'x-gateway-key': key, 'x-gateway-trace-id': 'sdk' };
  const started = performance.now();
  const openai = new OpenAI({
    baseURL: `${gateway.base}/v1`,
    apiKey: 'sk-proj-0123456789abcdef',
    defaultHeaders: headers,
  });
  await expect(openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [] })).rejects.toThrow(
    /429.*spent \$40 in five minutes/,
  );
  const anthropic = new Anthropic({
    baseURL: gateway.base,
    apiKey: 'sk-ant-0123456789abcdef',
    defaultHeaders: headers,
  });
  await expect(
    anthropic.messages.create({
      model: 'claude-sonnet-5',
      max_tokens: 5,
      messages: [{ role: 'user', content: 'x' }],
    }),
  ).rejects.toThrow(/spent \$40 in five minutes/);
  expect(forwarded).toBe(before);
  const { data } = asRecord(await gateway.api('/api/v1/logs?f=trace_id:eq:sdk&f=attempt:gt:0&fields=id'));
  expect([data, performance.now() - started < 60_000]).toEqual([[], true]);
  await resume(hit['id']);
  await until('the run goes on', async () => (await call('sdk')).status === 200);
  const answer = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [] });
  expect(answer.choices[0]?.message.content).toBe('hi');
});

test('a loop is found by its rule, paused, and goes on when resumed', async () => {
  const path = '/api/v1/brakes/same_prefix/run';
  const put = (body: object) => gateway.api(path, { method: 'PUT', body: JSON.stringify(body) });
  expect(await put({ action: 'pause', settings: { times: 6 } })).toMatchObject({
    action: 'pause',
    settings: [
      { name: 'times', value: 6, usual: 20 },
      { name: 'window_seconds', value: 600 },
    ],
  });
  await expect(put({ settings: { times: 1 } })).rejects.toThrow(/400.*times is from 2 to 200/);
  await expect(put({ settings: { tries: 5 } })).rejects.toThrow(/400.*has no setting of this name/);
  const again = [{ role: 'user', content: 'Where is the total made?' }];
  for (let number = 0; number < 6; number += 1) expect((await call('stuck', again)).status).toBe(200);
  await until('the loop is refused', async () => (await call('stuck')).code === 'paused');
  expect((await call('stuck')).text).toContain('the same conversation was sent 6 times within 600 s');
  expect((await call('other', again)).status).toBe(200);

  const { data } = asRecord(await gateway.api('/api/v1/brakes/hits?scope=run&value=stuck'));
  const [hit] = Array.isArray(data) ? data.map(asRecord) : [];
  expect(hit).toMatchObject({
    rule: 'same_prefix',
    is_paused: true,
    hit_by: null,
    numbers: { found: 6, times: 6, window_seconds: 600 },
  });
  const first = await gateway.waitForLog(String(hit?.['call_id']));
  expect(first).toMatchObject({ trace_id: 'stuck', outcome: 'ok' });
  // From the call that makes it true to the pause that every process polls for twice a second.
  expect(Date.parse(String(hit?.['hit_at'])) - Date.parse(String(first['requested_at']))).toBeLessThan(10_000);
  await resume(hit?.['id']);
  await until('the run goes on', async () => (await call('stuck')).status === 200);
  for (let number = 0; number < 4; number += 1) expect((await call('stuck', again)).status).toBe(200);
  await gateway.waitForLog((await call('stuck', again)).id);
  // What came before it was resumed does not count any more.
  expect(await gateway.api('/api/v1/brakes/hits?paused=true')).toMatchObject({ data: [] });
});

test('all that is paused is listed; of what was hit the latest, and that there may be more', async () => {
  const many = Array.from({ length: 55 }, (_, number) => `many ${number}`);
  const ids: unknown[] = [];
  for (const value of many) ids.push((await pause({ scope: 'run', value }))['id']);
  const list = (...flags: readonly string[]) => runTollgate(gateway.dataDir, ['brakes', 'list', ...flags]);
  const paused = await list('--paused');
  expect([paused.stdout.match(/run many \d+ /g)?.length, paused.stderr]).toEqual([55, '']);
  const hits = await list();
  expect([hits.stdout.match(/ run /g)?.length, hits.stderr]).toEqual([
    50,
    '\nAt most the latest 50 are shown; --limit says how many.\n',
  ]);
  expect((await list('--paused', '--limit', '3', '--json')).stdout.trim().split('\n')).toHaveLength(3);
  for (const id of ids) await resume(id);
});

test('a pause of a key closes its websocket and outlives the end of a proxy, and of the gateway', async () => {
  const { key_id: id } = await gateway.waitForLog((await call(null)).id);
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port}/v1/realtime?model=gpt-realtime`, {
    headers: { 'X-Gateway-Key': key, 'X-Gateway-Provider-Alias': 'voice' },
  });
  await new Promise<void>((resolve, reject) => client.once('message', () => resolve()).once('error', reject));
  const closed = new Promise<string>((resolve) =>
    client.once('close', (code, reason) => resolve(`${code} ${reason.toString()}`)),
  );
  const hit = await pause({ scope: 'key', value: String(id) });
  expect(await closed).toBe('1008 calls of this run or key are paused');
  expect(await call(null)).toMatchObject({ status: 429, code: 'paused' });

  const proxy = (await gateway.processes()).find(({ role }) => role === 'proxy');
  process.kill(proxy?.pid ?? 0, 'SIGKILL');
  const first = await waitUntil('a new proxy answers', async () => (await call(null).catch(() => null)) ?? undefined);
  expect(first.code).toBe('paused');

  const { dataDir, port, adminPort } = gateway;
  await gateway.stop({ remove: false });
  gateway = await startGateway({ dataDir, ports: { port, adminPort }, env });
  expect(await call(null)).toMatchObject({ status: 429, code: 'paused' });
  await resume(hit['id']);
  await until('the key goes on', async () => (await call(null)).status === 200);
});
