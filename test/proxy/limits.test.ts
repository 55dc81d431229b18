/** What is beyond a limit is refused as the provider would refuse it, and every kind of end gives a place back. */
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createGatewayKey, createRunToken, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import type { AccountLimit, Limit } from '../../src/vocabulary/limit.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { startProxy } from './start-proxy.ts';
import { startWebsocketProvider } from './websocket-provider.ts';

const { provider, proxy } = await openProxy();
const JSON_TYPE = { 'content-type': 'application/json' };
let keyId = 100;

interface Limits {
  readonly key?: Limit;
  readonly account?: readonly Omit<AccountLimit, 'accountId'>[];
}

/** A new key each time, so that no test finds what another has used. */
function limit(limits: Limits, { gateway, key } = proxy): void {
  keyId += 1;
  const accountId = keyId;
  const entry = { digest: digestKey(key), keyId, accountId, revoked: false, expiresAtMs: null };
  gateway.keys.snapshot = createKeySnapshot(
    keyId,
    [{ ...entry, usage: null, bodies: null, ...(limits.key === undefined ? {} : { limit: limits.key }) }],
    (limits.account ?? []).map((each) => ({ ...each, accountId })),
  );
}

function answerWith(usage: object): void {
  provider.setAnswer(() =>
    buildAnswer({ headers: [['content-type', 'application/json']], body: JSON.stringify({ usage }) }),
  );
}

beforeEach(() => answerWith({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }));

function call(headers: Record<string, string> = {}, body = '{"model":"m"}', path = '/v1/chat/completions') {
  return fetch(proxy.base + path, {
    method: 'POST',
    headers: { 'x-gateway-key': proxy.key, ...JSON_TYPE, ...headers },
    body,
  });
}

async function statusOf(...args: Parameters<typeof call>): Promise<string> {
  const answer = await call(...args);
  await answer.arrayBuffer();
  return `${answer.status} ${answer.headers.get('x-gateway-error') ?? ''}`.trim();
}

test('requests a minute: OpenAI’s clients are told by its headers, Anthropic’s by its own, Google’s in the body', async () => {
  limit({ key: { requestsPerMinute: 2 } });
  expect([await statusOf(), await statusOf()]).toEqual(['200', '200']);
  const answer = await call();
  expect(answer.status).toBe(429);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'x-gateway-error': 'rate_limit_exceeded',
    'retry-after': expect.stringMatching(/^(?:29|30)$/),
    'retry-after-ms': expect.stringMatching(/^(?:2\d{4}|30000)$/),
    'x-ratelimit-limit-requests': '2',
    'x-ratelimit-remaining-requests': '0',
    'x-ratelimit-reset-requests': expect.stringMatching(/^(?:2\d\.\d{3}|30\.000)s$/),
  });
  expect(answer.headers.has('x-should-retry')).toBe(false);
  expect(await answer.json()).toMatchObject({
    error: {
      type: 'rate_limit_error',
      code: 'rate_limit_exceeded',
      message: expect.stringMatching(
        /this gateway key: 2 requests a minute on this node; the next one passes in (29|30) s; `tollgate keys edit \d+` changes it/,
      ),
    },
  });
  const messages = await call({ 'anthropic-version': '2023-06-01' }, '{"model":"m"}', '/v1/messages');
  expect(messages.headers.get('anthropic-ratelimit-requests-limit')).toBe('2');
  expect(messages.headers.get('anthropic-ratelimit-requests-remaining')).toBe('0');
  expect(Date.parse(messages.headers.get('anthropic-ratelimit-requests-reset') ?? '')).toBeGreaterThan(Date.now());
  expect(messages.headers.has('x-ratelimit-limit-requests')).toBe(false);
  const gemini = await call({}, '{}', '/v1beta/models/m:generateContent');
  expect(await gemini.json()).toMatchObject({
    error: {
      code: 429,
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: expect.stringMatching(/^\d+s$/) }],
    },
  });
  const bedrock = await call({}, '{}', '/model/m/converse');
  expect(bedrock.headers.get('x-amzn-errortype')).toBe('ThrottlingException');
});

test('the SDKs show their own error for it, and wait as long as they are told before they try again', async () => {
  limit({ key: { requestsPerMinute: 1 } });
  const options = { apiKey: 'sk-1', defaultHeaders: { 'x-gateway-key': proxy.key } };
  const openai = (maxRetries: number) => new OpenAI({ ...options, baseURL: `${proxy.base}/v1`, maxRetries });
  const ask = (client: OpenAI) => client.chat.completions.create({ model: 'm', messages: [] });
  await ask(openai(0));
  await expect(ask(openai(0))).rejects.toThrow(OpenAI.RateLimitError);
  const claude = new Anthropic({ ...options, baseURL: proxy.base, maxRetries: 0 });
  await expect(
    claude.messages.create({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
  ).rejects.toThrow(Anthropic.RateLimitError);

  limit({ key: { requestsPerMinute: 60 } });
  await Promise.all(Array.from({ length: 60 }, () => statusOf()));
  const before = proxy.gateway.counters.rejected;
  // A request flows back each second: a try before that is too early, the next one is not.
  await ask(openai(2));
  expect(proxy.gateway.counters.rejected - before).toBeLessThanOrEqual(1);
});

test('calls at once: an answer, a cut, an aborted one, a failed one and a refusal each give the place back', async () => {
  limit({ key: { concurrent: 1 } });
  const { promise, resolve } = Promise.withResolvers<void>();
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n';
  provider.setAnswer(() => [{ write: head }, { waitFor: promise }, { write: '{}' }]);
  const open = call();
  const first = await open;
  const second = await call();
  expect([second.status, second.headers.get('x-gateway-error'), second.headers.get('retry-after')]).toEqual([
    429,
    'concurrency_limit_exceeded',
    '1',
  ]);
  expect(second.headers.has('x-ratelimit-limit-requests')).toBe(false);
  expect(await second.text()).toContain('1 calls at once');
  resolve();
  await first.text();

  const free = async () => {
    answerWith({});
    expect(await statusOf()).toBe('200');
  };
  await free();
  provider.setAnswer(() => [{ write: head }, { reset: true }]);
  await call()
    .then((answer) => answer.text())
    .catch(() => {});
  await free();
  provider.setAnswer(() => [{ reset: true }]);
  expect(await statusOf()).toBe('502 upstream_unreachable');
  await free();
  const aborter = new AbortController();
  provider.setAnswer(() => [{ write: head }, { waitFor: new Promise(() => {}) }]);
  const aborted = await fetch(`${proxy.base}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-gateway-key': proxy.key, ...JSON_TYPE },
    body: '{}',
    signal: aborter.signal,
  });
  aborter.abort();
  await aborted.text().catch(() => {});
  answerWith({});
  const deadlineMs = performance.now() + 10_000;
  // The abort takes a moment to arrive.
  while ((await statusOf()) !== '200') expect(performance.now()).toBeLessThan(deadlineMs);
  await free();
});

test.each([
  ['in one', 8_000_000, (body: Buffer) => [`Content-Length: ${body.length}`, '', body.toString()]],
  [
    'in chunks',
    8_000_000,
    (body: Buffer) => ['Transfer-Encoding: chunked', '', `${body.length.toString(16)}`, `${body}`, '0', '', ''],
  ],
])(
  'a refusal behind a large body that is streamed reaches a client that reads when all is sent: %s',
  async (_, bytes, frame) => {
    limit({ key: { concurrent: 1 } });
    const { promise, resolve } = Promise.withResolvers<void>();
    provider.setAnswer(() => [{ waitFor: promise }, ...buildAnswer({ body: '{}' })]);
    const seen = provider.requests.length;
    const first = call();
    await provider.waitForRequest(seen);
    const lines = frame(Buffer.alloc(bytes, 'y'));
    const head = [
      'POST /v1/messages HTTP/1.1',
      'Host: g',
      'anthropic-version: 2023-06-01',
      `X-Gateway-Key: ${proxy.key}`,
    ];
    const socket = connect({ port: proxy.port, host: '127.0.0.1' });
    let error: Error | null = null;
    socket.on('error', (cause) => {
      error = cause;
    });
    socket.pause();
    await new Promise<void>((sent) => {
      socket.once('close', () => sent());
      socket.write([...head, ...lines].join('\r\n'), () => sent());
    });
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    const ended = new Promise((resolveEnd) => socket.once('close', resolveEnd));
    socket.resume();
    await ended;
    expect([error, text.slice(0, 12)]).toEqual([null, 'HTTP/1.1 429']);
    expect(text).toContain('concurrency_limit_exceeded');
    resolve();
    await (await first).text();
  },
);

test('tokens a minute: what an answer reports counts, and with what it has used too much the next one waits', async () => {
  limit({ key: { tokensPerMinute: 600 } });
  answerWith({ prompt_tokens: 500, completion_tokens: 95, total_tokens: 595 });
  expect(await statusOf()).toBe('200');
  expect(await statusOf()).toBe('200');
  const refused = await call();
  expect(refused.headers.get('x-ratelimit-limit-tokens')).toBe('600');
  expect(refused.headers.get('x-ratelimit-remaining-tokens')).toBe('0');
  // 590 too many, and 4 for this one, at ten a second.
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(50);
  // What costs nothing takes no tokens.
  const models = await fetch(`${proxy.base}/v1/models`, { headers: { 'x-gateway-key': proxy.key } });
  expect(models.status).toBe(200);
});

test('an account’s limit is for all of its calls, one of a metadata key for each value, and one of a value for that', async () => {
  limit({
    key: { requestsPerMinute: 1_000 },
    account: [
      { limitId: 900, metadataKey: null, metadataValue: null, requestsPerMinute: 8 },
      { limitId: 901, metadataKey: 'User-Id', metadataValue: null, requestsPerMinute: 1 },
      { limitId: 902, metadataKey: 'user-id', metadataValue: 'heavy', requestsPerMinute: 3 },
    ],
  });
  const as = (user: string) => statusOf({ 'x-gateway-user-id': user });
  expect([await as('a'), await as('a')]).toEqual(['200', '429 rate_limit_exceeded']);
  expect([await as('b'), await as('heavy'), await as('heavy'), await as('heavy')]).toEqual([
    '200',
    '200',
    '200',
    '200',
  ]);
  const refused = await call({ 'x-gateway-user-id': 'heavy' });
  expect(await refused.text()).toContain('each value of user-id: 3 requests a minute');
  // What a value's limit refused has taken nothing of the account's: 5 of 8 are used.
  expect([await statusOf(), await statusOf(), await statusOf(), await statusOf()]).toEqual([
    '200',
    '200',
    '200',
    '429 rate_limit_exceeded',
  ]);
});

test('the halves of a rotation, and run tokens of either, have one limit', async () => {
  const half = createGatewayKey();
  const token = createRunToken();
  limit({});
  const { snapshot } = proxy.gateway.keys;
  const entry = snapshot?.keys.get(digestKey(proxy.key));
  if (entry === undefined) throw new Error('no key');
  const limited = { ...entry, limit: { requestsPerMinute: 3 } };
  const next = { ...limited, keyId: keyId + 1_000, firstKeyId: keyId };
  const run = { traceId: 'r', spanPath: null, provider: null, providerAlias: null, metadata: [] };
  proxy.gateway.keys.snapshot = createKeySnapshot(keyId, [
    limited,
    { ...next, digest: digestKey(half) },
    { ...next, digest: digestKey(token), run },
  ]);
  const keys = [proxy.key, half, token, proxy.key, half, token];
  const seen: string[] = [];
  for (const key of keys) seen.push(await statusOf({ 'x-gateway-key': key }));
  expect(seen).toEqual(['200', '200', '200', ...Array.from({ length: 3 }, () => '429 rate_limit_exceeded')]);
});

test('a call without limits asks nobody', async () => {
  limit({});
  proxy.gateway.limits?.returnAll();
  expect(await statusOf()).toBe('200');
  expect(proxy.gateway.limits?.isIdle).toBe(true);
});

test('a websocket has one place while it is open, each turn is a request, and the one too many ends it', async () => {
  const websockets = await startWebsocketProvider((session) =>
    session.on('message', () =>
      session.send(
        '{"type":"response.completed","response":{"id":"r","status":"completed","usage":{"input_tokens":70,"output_tokens":30,"total_tokens":100}}}',
      ),
    ),
  );
  const relay = await startProxy(websockets.origin);
  afterAll(async () => {
    await relay.close();
    await websockets.close();
  });
  limit({ key: { concurrent: 1, requestsPerMinute: 3, tokensPerMinute: 1_000_000 } }, relay);
  const client = new WebSocket(`${relay.base.replace('http', 'ws')}/v1/responses`, {
    headers: { 'x-gateway-key': relay.key, 'x-gateway-provider': 'openai' },
  });
  const closed = new Promise((resolve) => client.once('close', (code, reason) => resolve([code, String(reason)])));
  await new Promise((resolve) => client.once('open', resolve));
  const models = () => fetch(`${relay.base}/v1/models`, { headers: { 'x-gateway-key': relay.key } });
  expect((await models()).headers.get('x-gateway-error')).toBe('concurrency_limit_exceeded');
  for (let turn = 0; turn < 2; turn += 1) {
    const answered = new Promise((resolve) => client.once('message', resolve));
    client.send('{"type":"response.create","model":"m"}');
    await answered;
  }
  client.send('{"type":"response.create","model":"m"}');
  expect(await closed).toEqual([1008, 'a limit of the gateway is reached, try again later']);
  const deadlineMs = performance.now() + 10_000;
  // Its place is free again; the requests of the minute are used.
  while ((await models()).headers.get('x-gateway-error') !== 'rate_limit_exceeded')
    expect(performance.now()).toBeLessThan(deadlineMs);
});
