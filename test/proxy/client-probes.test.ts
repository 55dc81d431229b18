/** What clients ask before their first call, and headers that are nearly the gateway's: noted where it helps somebody. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const GEMINI_ANSWER =
  '{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2,"candidatesTokenCount":1,"totalTokenCount":3},"modelVersion":"gemini-2.5-flash","responseId":"answer-17"}';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'application/json']], body: GEMINI_ANSWER }),
  });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

async function send(line: string, headers: readonly string[] = []) {
  const head = [`${line} HTTP/1.1`, 'Host: a', 'Connection: close', ...headers, '', ''].join('\r\n');
  const answer = await readRawAnswer('127.0.0.1', proxy.port, Buffer.from(head));
  const id = answer.rawHeaders[answer.rawHeaders.indexOf('X-Gateway-Request-Id') + 1] ?? '';
  return { status: answer.status, id };
}

async function call(headers: readonly string[]) {
  const { status, id } = await send('POST /v1beta/models/gemini-2.5-flash:generateContent', [
    `X-Gateway-Key: ${proxy.key}`,
    'Content-Length: 0',
    ...headers,
  ]);
  expect(status).toBe(200);
  return proxy.waitForCall(id);
}

test.each([
  ['HEAD /', 200],
  ['HEAD /api/hello', 200],
  ['HEAD /anything', 401],
  ['GET /inference-profiles', 401],
  ['GET /inference-profiles?maxResults=1000', 401],
])('%s without a gateway key is answered %i, and counts as no refusal', async (line, status) => {
  const refused = proxy.gateway.counters.rejected;
  const shown = proxy.attempts.length;
  expect((await send(line)).status).toBe(status);
  expect([proxy.gateway.counters.rejected - refused, proxy.attempts.length - shown]).toEqual([0, 0]);
});

test('a call without a gateway key counts, as before', async () => {
  const refused = proxy.gateway.counters.rejected;
  expect((await send('GET /v1/models')).status).toBe(401);
  expect([proxy.gateway.counters.rejected - refused, proxy.attempts.at(-1)?.code]).toEqual([1, 'key_missing']);
});

test('HEAD with a key goes to the provider as before', async () => {
  const seen = provider.requests.length;
  expect((await send('HEAD /v1/models/gpt-4o-mini', [`X-Gateway-Key: ${proxy.key}`])).status).toBe(200);
  expect(provider.requests.length - seen).toBe(1);
});

test('an id that stands in the body alone is the id of the request', async () => {
  expect((await call([])).end.providerRequestId).toBe('answer-17');
});

test('a header that is nearly the gateway’s own is noted, and its value is not', async () => {
  const { begin, end } = await call(['X-Gateway-Trace: t1', 'X-Gatway-Key: tgk_secret']);
  expect(begin.flags).toContain('header_misspelt');
  expect(begin.metadata).toEqual([['Trace', 't1']]);
  expect(end.requestHeaders).toContainEqual(['x-gatway-key', '***']);
  expect(provider.requests.at(-1)?.header('x-gatway-key')).toBe('tgk_secret');
});

test('a span path without a trace id is noted; with one it is as it should be', async () => {
  expect((await call(['X-Gateway-Span-Path: a/b'])).begin.flags).toEqual(['span_without_trace']);
  expect((await call(['X-Gateway-Span-Path: a/b', 'X-Gateway-Trace-Id: t'])).begin.flags).toEqual([]);
});
