/** A key or run token in front of the path: what is done with it, in every protocol, and who wins. */
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { createGatewayKey, createRunToken, digestKey } from '../../src/keys/gateway-key.ts';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import type { KeyEntry, RunContext } from '../../src/vocabulary/channel.ts';
import type { RecordedRequest } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { readHttp2Answer } from './read-http2-answer.ts';
import { startProxy } from './start-proxy.ts';
import { SWITCH, startRawProvider } from './websocket-provider.ts';

const { provider, proxy } = await openProxy();

const ALLOWED = createGatewayKey();
const TOKEN = createRunToken();
const RUN: RunContext = {
  traceId: 'run-1',
  spanPath: 'agent/plan',
  provider: null,
  providerAlias: null,
  metadata: [
    ['Repo', 'shop'],
    ['Branch', 'main'],
  ],
};
const PLAIN = { keyId: 8, accountId: 1, revoked: false, expiresAtMs: null, usage: null, bodies: null } as const;

function setKeys(...more: readonly KeyEntry[]): void {
  proxy.gateway.keys.snapshot = createKeySnapshot(2, [
    { ...PLAIN, keyId: 7, digest: digestKey(proxy.key) },
    { ...PLAIN, keyId: 9, digest: digestKey(ALLOWED), allowInAddress: true },
    ...more,
  ]);
}

beforeEach(() => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  setKeys({ ...PLAIN, digest: digestKey(TOKEN), run: RUN });
});

interface Outcome {
  readonly status: number;
  readonly code: string | undefined;
  readonly arrived: RecordedRequest | null;
}

async function call(target: string, ...headers: readonly string[]): Promise<Outcome> {
  const seen = provider.requests.length;
  const head = [`GET ${target} HTTP/1.1`, 'Host: gateway', ...headers].join('\r\n');
  const answer = await readRawAnswer('127.0.0.1', proxy.port, `${head}\r\n\r\n`);
  const code = answer.rawHeaders[answer.rawHeaders.findIndex((name) => /^x-gateway-error$/i.test(name)) + 1];
  return {
    status: answer.status,
    code: answer.status === 200 ? undefined : code,
    arrived: provider.requests[seen] ?? null,
  };
}

test('a key that is allowed in addresses does in front of the path what it does in the header', async () => {
  const { status, arrived } = await call(`/@${ALLOWED}/v1/models?limit=2`);
  const { begin } = await proxy.lastCall();
  expect([status, arrived?.target, begin.path, begin.keyId]).toEqual([
    200,
    '/v1/models?limit=2',
    '/v1/models?limit=2',
    9,
  ]);
});

test('a run token says the key, the run, the step and the metadata of a call', async () => {
  const { status, arrived } = await call(`/%40${TOKEN}/v1/models`);
  const { begin } = await proxy.lastCall();
  expect([status, arrived?.target]).toEqual([200, '/v1/models']);
  expect(begin).toMatchObject({ keyId: 8, traceId: 'run-1', spanPath: 'agent/plan', path: '/v1/models' });
  expect(begin.metadata).toEqual([
    ['Repo', 'shop'],
    ['Branch', 'main'],
  ]);
});

test('a run token may stand in X-Gateway-Key too', async () => {
  expect((await call('/v1/models', `X-Gateway-Key: ${TOKEN}`)).status).toBe(200);
  expect((await proxy.lastCall()).begin).toMatchObject({ keyId: 8, traceId: 'run-1' });
});

test('headers of the call win over the token, one by one', async () => {
  await call(
    `/@${TOKEN}/v1/models`,
    `X-Gateway-Key: ${proxy.key}`,
    'X-Gateway-Trace-Id: mine',
    'X-Gateway-branch: fix',
    'X-Gateway-Provider: anthropic',
  );
  const { begin } = await proxy.lastCall();
  expect(begin).toMatchObject({ keyId: 7, traceId: 'mine', spanPath: 'agent/plan', provider: 'anthropic' });
  expect(begin.metadata).toEqual([
    ['branch', 'fix'],
    ['Repo', 'shop'],
  ]);
});

test('the provider is said by the header, else behind the token, else by the token', async () => {
  setKeys({ ...PLAIN, digest: digestKey(TOKEN), run: { ...RUN, provider: 'deepseek' } });
  for (const [target, headers, expected] of [
    [`/@${TOKEN}/v1/chat/completions`, [], 'deepseek'],
    [`/@${TOKEN}.together/v1/chat/completions`, [], 'together'],
    [`/@${TOKEN}.together/v1/chat/completions`, ['X-Gateway-Provider: fireworks'], 'fireworks'],
  ] as const) {
    await call(target, ...headers);
    expect((await proxy.lastCall()).begin.provider).toBe(expected);
  }
  expect((await call(`/@${TOKEN}.nobody/v1/chat/completions`)).code).toBe('provider_unknown');
});

test.each([
  ['a key that may not stand there', () => `/@${proxy.key}/v1/models`, 401, 'key_not_in_address'],
  ['a key that is not known', () => `/@${createGatewayKey()}/v1/models`, 401, 'key_unknown'],
  ['a token that is not known', () => `/@${createRunToken()}/v1/models`, 401, 'run_token_unknown'],
  ['a mistyped token', () => `/@${TOKEN.slice(0, -1)}/v1/models`, 401, 'token_malformed'],
  ['what is no token', () => '/@me/v1/models', 401, 'token_malformed'],
  ['a second token', () => `/@${TOKEN}/@${ALLOWED}/v1/models`, 400, 'token_misplaced'],
  ['a token behind something', () => `/llm/@${TOKEN}/v1/models`, 400, 'token_misplaced'],
])('%s is refused, and nothing is sent', async (_, target, status, code) => {
  const refused = await call(target());
  expect(refused).toEqual({ status, code, arrived: null });
  expect(JSON.stringify(proxy.attempts)).not.toMatch(/tg[kr]_\w{12}/);
});

test('a token that was ended or is over is refused at once, also where the header has a good key', async () => {
  for (const end of [{ revoked: true }, { expiresAtMs: 1 }]) {
    expect((await call(`/@${TOKEN}/v1/models`)).status).toBe(200);
    setKeys({ ...PLAIN, digest: digestKey(TOKEN), run: RUN, ...end });
    expect((await call(`/@${TOKEN}/v1/models`)).code).toBe('run_token_ended');
    expect((await call(`/@${TOKEN}/v1/models`, `X-Gateway-Key: ${proxy.key}`)).code).toBe('run_token_ended');
    setKeys({ ...PLAIN, digest: digestKey(TOKEN), run: RUN });
  }
});

test('a client’s own AWS signature over such a path is refused with that reason; an API key passes', async () => {
  const path = `/@${ALLOWED}/model/amazon.nova-lite-v1:0/converse`;
  const signature = 'AWS4-HMAC-SHA256 Credential=AKIACLIENT0000000000/a/b/c/d, SignedHeaders=host, Signature=00';
  const refused = await call(path, `Authorization: ${signature}`);
  expect([refused.status, refused.code, refused.arrived]).toEqual([400, 'signature_address', null]);
  const passed = await call(path, 'Authorization: Bearer bedrock-api-key-abcdefghijklmnop');
  expect([passed.status, passed.arrived?.target]).toEqual([200, '/model/amazon.nova-lite-v1:0/converse']);
});

test('a header that has the token in it does not reach the provider', async () => {
  const { arrived } = await call(`/@${TOKEN}/v1/models`, `Referer: http://gateway/@${TOKEN}/page`, 'X-Other: kept');
  expect(arrived?.headBytes.toString()).not.toContain(TOKEN);
  expect(arrived?.header('x-other')).toBe('kept');
});

test('HTTP/2: the same', async () => {
  const session = connectHttp2(proxy.base);
  session.on('error', () => {}); // its streams tell
  const seen = provider.requests.length;
  await readHttp2Answer(session, { method: 'GET', path: `/@${TOKEN}/v1/models`, headers: [] });
  session.destroy();
  expect((await provider.waitForRequest(seen)).target).toBe('/v1/models');
  expect((await proxy.lastCall()).begin).toMatchObject({ keyId: 8, traceId: 'run-1' });
});

test('a websocket: the same, and the token is not in the handshake', async () => {
  let head = '';
  const websocket = await startRawProvider((socket, text) => {
    head = text;
    socket.end(SWITCH);
  });
  const other = await startProxy(websocket.origin);
  other.gateway.keys.snapshot = proxy.gateway.keys.snapshot;
  const socket = connect(other.port, '127.0.0.1');
  socket.write(
    `GET /@${TOKEN}/v1/realtime?model=gpt-realtime HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  const { begin } = await other.lastCall();
  expect(head).toMatch(/^GET \/v1\/realtime\?model=gpt-realtime HTTP/);
  expect(head).not.toContain(TOKEN);
  expect(begin).toMatchObject({ traceId: 'run-1', path: '/v1/realtime?model=gpt-realtime' });
  await other.close();
  await websocket.close();
});
