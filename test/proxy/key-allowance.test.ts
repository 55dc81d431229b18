/** What a key does not allow is refused before anything reaches the provider, however a client tries to pass it by. */
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createRunToken, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { HELD_BODIES_BYTES } from '../../src/proxy/gateway.ts';
import type { KeyAllowance, KeyEntry } from '../../src/vocabulary/channel.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { startProxy } from './start-proxy.ts';
import { startWebsocketProvider } from './websocket-provider.ts';

const { provider, proxy } = await openProxy(
  {},
  { aliases: { openai: { eu: { origin: 'http://127.0.0.1:9', region: null } } } },
);
const TOKEN = createRunToken();
const RUN: NonNullable<KeyEntry['run']> = {
  traceId: 'r',
  spanPath: null,
  provider: null,
  providerAlias: null,
  metadata: [],
};
const JSON_TYPE = { 'content-type': 'application/json' };

function allow(allowance: KeyAllowance, { gateway, key } = proxy): void {
  const entry = { keyId: 7, accountId: 1, revoked: false, expiresAtMs: null, usage: null, bodies: null };
  gateway.keys.snapshot = createKeySnapshot(2, [
    { ...entry, digest: digestKey(key), allow: allowance },
    { ...entry, digest: digestKey(TOKEN), allow: allowance, run: RUN },
  ]);
}

beforeEach(() => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
});

/** The refusal's code and status, or 200; `passed` counts what the provider got of it. */
async function call(path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}) {
  const before = provider.requests.length;
  const headers = { 'x-gateway-key': proxy.key, ...init.headers };
  const answer = await fetch(`${proxy.base}${path}`, { method: 'POST', ...init, headers });
  const text = await answer.text();
  return {
    status: answer.status,
    code: answer.headers.get('x-gateway-error'),
    id: answer.headers.get('x-gateway-request-id') ?? '',
    text,
    passed: provider.requests.length - before,
  };
}

const chat = (body: string, headers: Record<string, string> = {}) =>
  call('/v1/chat/completions', { body, headers: { ...JSON_TYPE, ...headers } });

/** Of unknown length. */
const inChunks = (body: string) =>
  call('/v1/chat/completions', { body: new Blob([body]).stream(), duplex: 'half', headers: JSON_TYPE });

const PASSED = { status: 200, code: null, passed: 1 };
const refused = (code: string) => ({ status: 403, code, passed: 0 });

test('provider, alias and endpoint are those of the key; the refusal says which, and how that is changed', async () => {
  allow({ providers: ['openai', 'gemini'] });
  expect(await chat('{"model":"m"}')).toMatchObject(PASSED);
  const answer = await call('/v1/messages', { body: '{}', headers: { 'anthropic-version': '2023-06-01' } });
  expect(answer).toMatchObject(refused('provider_not_allowed'));
  expect(JSON.parse(answer.text)).toMatchObject({
    type: 'error',
    error: {
      type: 'permission_error',
      code: 'provider_not_allowed',
      status: 'PERMISSION_DENIED',
      message:
        'This gateway key may not call this provider. (allowed: openai, gemini; who manages the keys of this gateway can change that: `tollgate keys edit 7 --providers …`)',
    },
  });
  expect((await proxy.waitForCall(answer.id)).end).toMatchObject({
    outcome: 'rejected',
    errorType: 'provider_not_allowed',
  });

  allow({ endpoints: ['models', 'chat.*'] });
  expect(await chat('{"model":"m"}')).toMatchObject(PASSED);
  expect(await call('/v1/models', { method: 'GET' })).toMatchObject(PASSED);
  expect(await call('/v1/responses', { body: '{}' })).toMatchObject(refused('endpoint_not_allowed'));

  allow({ aliases: ['eu'] });
  expect(await chat('{"model":"m"}')).toMatchObject(refused('alias_not_allowed'));
  expect(await chat('{"model":"m"}', { 'x-gateway-provider-alias': 'EU' })).toMatchObject({ status: 502, passed: 0 });
  // Where no alias is configured it is a label, and leads to the provider's own upstream.
  const label = { 'x-gateway-provider': 'together', 'x-gateway-provider-alias': 'eu' };
  expect(await chat('{"model":"m"}', label)).toMatchObject(refused('alias_not_allowed'));
  allow({ aliases: ['-'] });
  expect(await chat('{"model":"m"}', label)).toMatchObject(PASSED);
  expect(await chat('{"model":"m"}', { 'x-gateway-provider-alias': 'eu' })).toMatchObject(refused('alias_not_allowed'));
});

test('another network learns nothing of what the key is for, and is asked first', async () => {
  allow({ networks: ['10.0.0.0/8', 'fd00::/8'], providers: ['anthropic'] });
  const answer = await chat('{"model":"m"}');
  expect(answer).toMatchObject(refused('network_not_allowed'));
  expect(answer.text).not.toMatch(/10\.|fd00|anthropic/);
  allow({ networks: ['127.0.0.1/32'] });
  expect(await chat('{"model":"m"}')).toMatchObject(PASSED);
});

test('a model may stand in another member than `model`, once', async () => {
  const post = (path: string, body: object) => call(path, { body: JSON.stringify(body) });
  allow({ models: ['amazon.nova-reel*', 'deep-research*'] });
  expect(await post('/async-invoke', { modelId: 'amazon.nova-reel-v1:1' })).toMatchObject(PASSED);
  expect(await post('/v1beta/interactions', { agent: 'deep-research-pro-preview' })).toMatchObject(PASSED);
  const notAllowed = refused('model_not_allowed');
  expect(await post('/async-invoke', { modelId: 'amazon.titan-v1' })).toMatchObject(notAllowed);
  expect(await post('/async-invoke', { model: 'amazon.nova-reel-v1:1' })).toMatchObject(notAllowed);
  expect(await post('/v1beta/interactions', { agent: 'deep-research-x', model: 'gemini-3.5-flash' })).toMatchObject(
    notAllowed,
  );
  expect(
    await call('/async-invoke', { body: '{"modelId":"amazon.nova-reel-v1:1","modelid":"amazon.titan-v1"}' }),
  ).toMatchObject(notAllowed);
});

test('a model is the one that the provider will read: in the body, a form, or the path', async () => {
  allow({ models: ['gpt-5*', '*claude-sonnet*', 'gemini-2.5-pro'] });
  const form = (...models: readonly string[]) => {
    const body = new FormData();
    body.set('file', new Blob(['name="model"x']), 'a.mp3');
    for (const model of models) body.append('model', model);
    return call('/v1/audio/transcriptions', { body });
  };
  const path = (model: string) => call(`/v1beta/models/${model}:generateContent`, { body: '{}' });
  const bedrock = (model: string) => call(`/model/${encodeURIComponent(model)}/converse`, { body: '{}' });
  const passed = [
    await chat('{"model":"GPT-5-mini"}'),
    await chat('{"stream":true,"model":"gpt-5"}'),
    await path('gemini-2.5-pro'),
    await bedrock('eu.anthropic.claude-sonnet-4-5-v1:0'),
    await call('/v1/messages/count_tokens', {
      body: '{"model":"claude-sonnet-4-5"}',
      headers: { 'anthropic-version': '2023-06-01' },
    }),
    // Free, and about no model.
    await call('/v1/models', { method: 'GET' }),
    await call('/v1/files', { method: 'GET' }),
  ];
  expect(passed.map(({ status, code }) => [status, code])).toEqual(passed.map(() => [200, null]));

  const stopped = [
    await chat('{"model":"gpt-4o"}'),
    await chat('{"model":"gpt-5","model":"o3"}'),
    await chat('{"model":"gpt-5","Model":"o3"}'),
    await chat('{"model":"gpt-5","mod\\u0065l":"o3"}'),
    await chat('{"model":"gpt-5"}{"model":"o3"}'),
    await chat('{"prompt":{"id":"p"}}'),
    await chat('model=gpt-5'),
    await chat('{"model":"gpt-5"}', { 'content-encoding': 'gzip' }),
    await form('o3', 'gpt-5'),
    await form('whisper-1'),
    await path('gemini-2.5-flash'),
    await bedrock('eu.anthropic.claude-opus-4-5-v1:0'),
    await call('/v1/messages/count_tokens', {
      body: '{"model":"claude-opus-4-5"}',
      headers: { 'anthropic-version': '2023-06-01' },
    }),
    // Models that stand in a file, behind a session or a path that nobody knows.
    await call('/v1/batches', { body: '{"input_file_id":"f"}', headers: JSON_TYPE }),
    await call('/v1/messages/batches', { body: '{"requests":[]}', headers: { 'anthropic-version': '2023-06-01' } }),
    await call('/v1/realtime/client_secrets', { body: '{}', headers: JSON_TYPE }),
    await call('/v1/something/new', {
      body: '{"model":"gpt-5"}',
      headers: { ...JSON_TYPE, 'x-gateway-provider': 'openai' },
    }),
  ];
  expect(stopped.map(({ status, code, passed: arrived }) => [status, code, arrived])).toEqual(
    stopped.map(() => [403, 'model_not_allowed', 0]),
  );
});

test('a body of megabytes is held to see its model, also when it comes in pieces', async () => {
  allow({ models: ['gpt-5'] });
  const filler = 'x'.repeat(3_000_000);
  expect(await chat(`{"input":"${filler}","model":"gpt-5"}`)).toMatchObject(PASSED);
  expect(await chat(`{"input":"${filler}","model":"o3"}`)).toMatchObject(refused('model_not_allowed'));
  expect(await inChunks(`{"input":"${filler}","model":"gpt-5"}`)).toMatchObject(PASSED);
  // All the room that there is for such bodies.
  expect(proxy.gateway.heldBodies.take(HELD_BODIES_BYTES)).toBe(true);
  const busy = { status: 503, code: 'bodies_busy', passed: 0 };
  expect(await chat(`{"input":"${filler}","model":"gpt-5"}`)).toMatchObject(busy);
  expect(await inChunks(`{"input":"${'x'.repeat(300 * 1024)}","model":"gpt-5"}`)).toMatchObject(busy);
  proxy.gateway.heldBodies.give(HELD_BODIES_BYTES);
  const tooLarge = `{"input":"${'x'.repeat(34_000_000)}","model":"gpt-5"}`;
  for (const send of [chat, inChunks]) expect(await send(tooLarge)).toMatchObject(refused('model_not_allowed'));
});

test('a compressed body is read as well, and one that would fill the memory is not', async () => {
  allow({ models: ['gpt-5'] });
  const encoded = (encoding: string, bytes: Buffer<ArrayBuffer>) =>
    call('/v1/chat/completions', { body: bytes, headers: { ...JSON_TYPE, 'content-encoding': encoding } });
  const body = (model: string) => `{"input":"${'x'.repeat(5_000)}","model":"${model}"}`;
  for (const [encoding, encode] of [
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const) {
    expect(await encoded(encoding, Buffer.from(encode(body('gpt-5'))))).toMatchObject(PASSED);
    expect(await encoded(encoding, Buffer.from(encode(body('o3'))))).toMatchObject(refused('model_not_allowed'));
  }
  expect(provider.requests.at(-1)?.body()).toEqual(zstdCompressSync(body('gpt-5')));
  const bomb = Buffer.from(gzipSync(Buffer.alloc(40 * 1024 * 1024, ' ')));
  expect(await encoded('gzip', bomb)).toMatchObject(refused('model_not_allowed'));
  expect(await encoded('gzip, br', Buffer.from(body('gpt-5')))).toMatchObject(refused('model_not_allowed'));
});

test('a run token may what its key may', async () => {
  allow({ models: ['gpt-5'] });
  const tokenCall = (model: string) =>
    fetch(`${proxy.base}/@${TOKEN}/v1/chat/completions`, {
      method: 'POST',
      headers: JSON_TYPE,
      body: `{"model":"${model}"}`,
    });
  expect((await tokenCall('gpt-5')).status).toBe(200);
  expect((await tokenCall('o3')).status).toBe(403);
});

test('the SDKs show it as their own error for a missing permission, and do not try again', async () => {
  allow({ models: ['gpt-5'] });
  const seen = proxy.gateway.counters.rejected;
  const headers = { 'x-gateway-key': proxy.key };
  const openai = new OpenAI({ apiKey: 'sk-1', baseURL: `${proxy.base}/v1`, defaultHeaders: headers });
  const anthropic = new Anthropic({ apiKey: 'k', baseURL: proxy.base, defaultHeaders: headers });
  await expect(openai.responses.create({ model: 'o3', input: 'hi' })).rejects.toThrow(OpenAI.PermissionDeniedError);
  await expect(
    anthropic.messages.create({ model: 'claude-opus-4-5', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
  ).rejects.toThrow(/may not use this model\. \(allowed: gpt-5;/);
  expect(proxy.gateway.counters.rejected - seen).toBe(2);
});

test('on a websocket no message about another model becomes whole at the provider, and the client is told', async () => {
  const heard: string[] = [];
  const websockets = await startWebsocketProvider(
    (session) =>
      session.on('message', (data) => {
        heard.push(String(data));
        session.send('{"type":"heard"}');
      }),
    { deflate: true },
  );
  const relay = await startProxy(websockets.origin);
  afterAll(async () => {
    await relay.close();
    await websockets.close();
  });
  allow({ models: ['gpt-5*'] }, relay);
  const headers = { 'x-gateway-key': relay.key, 'x-gateway-provider': 'openai' };
  const open = (path: string) =>
    new WebSocket(relay.base.replace('http', 'ws') + path, { headers, perMessageDeflate: { threshold: 0 } });
  const refusal = async (path: string) => {
    const client = open(path);
    client.on('error', () => {});
    return new Promise((resolve) =>
      client.once('unexpected-response', (_request, answer) => resolve(answer.headers['x-gateway-error'])),
    );
  };
  expect(await refusal('/v1/realtime?model=o3')).toBe('model_not_allowed');
  expect(await refusal('/v1/realtime?intent=transcription')).toBe('model_not_allowed');
  expect(await refusal('/v1/live/sessions/s1/attach')).toMatch(/model_not_allowed|upgrade_unsupported/);

  const good =
    '{"type":"response.create","model":"gpt-5","input":[{"role":"user","content":"say \\"model\\":\\"o3\\""}]}';
  for (const bad of [
    '{"type":"response.create","model":"o3"}',
    '{"type":"response.create","model":"o3","model":"gpt-5"}',
    '{"type":"response.create","m\\u006fdel" : "o3"}',
    '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"whisper-1"}}}}}',
    '{"type":"response.create","model":"o3',
  ]) {
    heard.length = 0;
    const client = open('/v1/responses');
    const closed = new Promise((resolve) => client.once('close', (code, reason) => resolve([code, String(reason)])));
    await new Promise((resolve) => client.once('open', resolve));
    expect(client.extensions).toBe('');
    const echoed = new Promise((resolve) => client.once('message', resolve));
    client.send(good);
    await echoed;
    client.send(bad);
    client.send(good);
    expect(await closed).toEqual([1008, 'the gateway key does not allow this model']);
    expect(heard).toEqual([good]);
  }
  expect((await relay.lastConnection()).end).toMatchObject({ outcome: 'shutdown_cut', errorType: 'model_not_allowed' });
});
