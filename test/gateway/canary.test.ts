/**
 * No secret is kept: calls with a secret in every place, through every ending, then a search of every place that the
 * gateway writes to. And prompts are kept as bodies only, and nowhere where bodies are off.
 */
import { readdirSync, statSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createGatewayKey, createRunToken } from '../../src/keys/gateway-key.ts';
import { readHttp2Answer } from '../proxy/read-http2-answer.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import {
  createCanaries,
  formatRequest,
  PROMPT_MARKER,
  secretHeaders,
  secretQuery,
  secretSegments,
  signedQuery,
  startUpstreams,
  UNKEPT_MARKER,
  type Upstreams,
} from './canary-calls.ts';
import { findIn, readApi, readCommands, readDataFiles, readTables, type Sink, showIn } from './canary-sinks.ts';
import { asRecord, makeDataDir, startGateway, type TestGateway } from './start-gateway.ts';

const canaries = createCanaries();
const dataDir = makeDataDir();
let upstreams: Upstreams;
let gateway: TestGateway;
/** What clients were answered, where the gateway itself answered. */
const refusals: Sink[] = [];
const ids: string[] = [];

/** Where secrets are put, besides the gateway's own keys: good, revoked, unknown, mistyped, of a key without bodies. */
const PLACES = [
  'authorization',
  'x-api-key',
  'x-goog-api-key',
  'api-key',
  'cookie',
  'proxy-authorization',
  'x-auth-token',
  'x-amz-security-token',
  'sec-websocket-protocol',
  '?key',
  '?access_token',
  '?%6bey',
  '?code',
  '?bearer',
  '?bare',
  '?callback',
  '?next',
  'basic password',
  'path;key',
  'path segment',
  'path%3Fkey',
  'aws id',
  'aws signature',
  '?X-Amz-Signature',
  '?X-Amz-Credential',
  '?X-Amz-Security-Token',
  'set-cookie',
  'location',
  'x-gateway-provider',
  'connect',
  'broken head',
  'userinfo, no key',
  'userinfo http://',
  'userinfo //',
  'userinfo /\\',
  'userinfo ftp://',
  'the token of the metrics',
  'the operator’s access key id',
  'the operator’s secret access key',
  'the operator’s session token',
];
/** Among what is searched, by name; all other tables, files, answers and refusals too. */
const SINKS = [
  'table public.llm_requests',
  'table public.llm_bodies',
  'table public.llm_texts',
  'table public.llm_open_calls',
  'table public.llm_runs',
  'table public.gateway_keys',
  'table public.jobs',
  'file keys.json',
  'file admin.json',
  'file owner.json',
  'file postgres.log',
  'GET /metrics',
  'GET /api/v1/status',
  'GET /api/v1/attempts',
  'GET /api/v1/logs',
  'GET /api/v1/export?kind=logs&format=csv',
  'GET /api/v1/export?kind=logs&format=ndjson',
  'GET /api/v1/run?trace_id=canary',
  'GET /api/v1/openapi.json',
  'tollgate doctor',
  'tollgate doctor --json',
  'tollgate logs --json',
  'refusal of tls',
  'refusal of dns',
  'refusal of key',
  'stdout and stderr at debug level',
];

beforeAll(async () => {
  upstreams = await startUpstreams(canaries);
  gateway = await startGateway({ dataDir, env: { ...upstreams.env, TOLLGATE_LOG_LEVEL: 'debug' } });
});
afterAll(async () => {
  await gateway?.stop();
  await upstreams?.close();
});

async function createKey(body: object): Promise<{ key: string; id: number }> {
  const created = asRecord(await gateway.api('/api/v1/keys', { method: 'POST', body: JSON.stringify(body) }));
  return { key: String(created['key']), id: Number(created['id']) };
}

function prompt(marker: string): string {
  return JSON.stringify({
    model: 'gpt-4o-mini',
    stream: false,
    messages: [{ role: 'user', content: `say ${marker}` }],
  });
}

interface Call {
  readonly ending: string;
  readonly target?: string;
  readonly key?: string;
  readonly more?: readonly string[];
  readonly marker?: string;
  readonly query?: string;
}

async function send({
  ending,
  target,
  key = gateway.key,
  more = [],
  marker = PROMPT_MARKER,
  query = '',
}: Call): Promise<number> {
  const path = target ?? `/v1/chat/completions/wish-${ending}`;
  const text = formatRequest({
    target: `${path}?${secretQuery(canaries, ending)}${query}`,
    headers: ['X-Gateway-Trace-Id', 'canary', ...secretHeaders(canaries, key, ending), ...more],
    body: prompt(marker),
  });
  const answer = await readRawAnswer('127.0.0.1', gateway.port, text);
  const head = answer.head.toString('latin1');
  if (/x-gateway-error:/i.test(head))
    refusals.push({ name: `refusal of ${ending}`, content: Buffer.concat([answer.head, answer.body]) });
  const id = /x-gateway-request-id: (\S+)/i.exec(head)?.[1];
  if (id !== undefined && !/x-gateway-error: (?!upstream_)/i.test(head)) ids.push(id);
  return answer.status;
}

test('secrets in every place and every ending are found in no sink, prompts only in bodies', async () => {
  const revoked = await createKey({ name: 'revoked' });
  await gateway.api(`/api/v1/keys/${revoked.id}`, { method: 'DELETE' });
  const unkept = await createKey({ name: 'no bodies', bodies: 'off' });
  const unknown = createGatewayKey();
  const mistyped = `${gateway.key.slice(0, -1)}${gateway.key.endsWith('0') ? '1' : '0'}`;
  const alias = (name: string) => ['X-Gateway-Provider-Alias', name];

  // Answers of the provider.
  for (const [ending, status] of [
    ['ok', 200],
    ['stream', 200],
    ['stream-error', 200],
    ['error', 401],
    ['error-gzip', 403],
    ['redirect', 502],
    ['cut', 200],
  ] as const)
    expect([ending, await send({ ending })]).toEqual([ending, status]);
  for (const ending of ['ok', 'error'])
    await send({ ending, target: `/v1/chat/completions/${secretSegments(canaries, `path ${ending}`)}/wish-${ending}` });
  for (const target of ['/v1/messages/wish-error', '/v1beta/models/m:generateContent/wish-error'])
    expect(await send({ ending: 'error', target })).toBe(401);
  // No answer of the provider.
  expect(await send({ ending: 'reset' })).toBe(502);
  expect(await send({ ending: 'garbage' })).toBe(502);
  for (const name of ['tls', 'dns', 'closed'])
    expect([name, await send({ ending: name, more: alias(name) })]).toEqual([name, 502]);
  // Signed here, and the client's own signature dropped.
  const signed = {
    target: '/model/m/converse/wish-error',
    more: ['X-Gateway-Provider', 'bedrock', ...alias('signed')],
  };
  expect(await send({ ending: 'signed', ...signed })).toBe(401);
  expect(await send({ ending: 'signed', ...signed, query: `&${signedQuery(canaries)}` })).toBe(401);
  // Refusals.
  for (const key of [revoked.key, unknown, mistyped, `${gateway.key} `, ''])
    expect([200, 401]).toContain(await send({ ending: 'key', key }));
  expect(await send({ ending: 'alias', more: ['X-Gateway-Provider', 'openai', ...alias('none')] })).toBe(400);
  expect(await send({ ending: 'provider', more: ['X-Gateway-Provider', canaries.make('x-gateway-provider')] })).toBe(
    400,
  );
  for (const form of ['http://', '//', '/\\', 'ftp://'])
    await send({
      ending: 'userinfo',
      target: `${form}u:${canaries.make(`userinfo ${form}`)}@evil.example/v1/chat/completions`,
    });
  await send({ ending: 'no-key', target: `http://u:${canaries.make('userinfo, no key')}@evil.example/v1/x`, key: '' });
  await send({
    ending: 'amz',
    target: '/model/m/converse',
    more: [
      'Authorization',
      `AWS4-HMAC-SHA256 Credential=${canaries.make('aws id')}/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=host, Signature=${canaries.make('aws signature')}`,
    ],
  });
  const connectLine = `CONNECT u:${canaries.make('connect')}@evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n`;
  await readRawAnswer('127.0.0.1', gateway.port, connectLine).catch(() => null);
  const broken = `POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nAuthorization: ${canaries.make('broken head')}\r\nBad Header\r\n\r\n`;
  await readRawAnswer('127.0.0.1', gateway.port, broken).catch(() => null);

  expect(await send({ ending: 'amz query', target: '/model/m/converse', query: `&${signedQuery(canaries)}` })).toBe(
    400,
  );

  const inAddresses = await makeAddressTokens();
  for (const token of inAddresses) {
    const target = `/@${token}/v1/chat/completions/wish-error`;
    expect([400, 401]).toContain(await send({ ending: 'error', target, key: '' }));
    for (const odd of [`/%40${token}.openai${target.slice(token.length + 2)}`, `/x${target}`, `/@${token}${target}`])
      await send({ ending: 'error', target: odd, key: '' });
    await send({
      ending: 'amz',
      target: `/@${token}/model/m/converse`,
      key: '',
      query: `&${signedQuery(canaries)}`,
      more: ['Referer', `http://a/@${token}/b`],
    });
    const unreadable = `GET /@${token}/v1/models HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n`;
    await readRawAnswer('127.0.0.1', gateway.port, unreadable).catch(() => null);
  }
  const [addressed = ''] = inAddresses;
  for (const ending of ['ok', 'stream', 'stream-error', 'cut', 'reset', 'garbage'])
    await send({ ending, target: `/@${addressed}/v1/chat/completions/wish-${ending}`, key: '' });

  // The client goes away, the gateway's process is killed, a websocket, HTTP/2.
  await abandon('client gone');
  for (const place of ['', `/@${addressed}`]) {
    await sendByHttp2(place);
    await talk(place);
  }
  expect(await send({ ending: 'ok', key: unkept.key, marker: UNKEPT_MARKER })).toBe(200);
  expect(await send({ ending: 'error', key: unkept.key, marker: UNKEPT_MARKER })).toBe(401);
  await killProxyDuring('killed', `/@${addressed}`);

  for (const id of ids) await gateway.waitForLog(id);
  const api = await readApi(gateway, ids);
  const tables = await readTables(dataDir);
  const commands = await readCommands(gateway);
  const files = readDataFiles(dataDir);
  const output: Sink = { name: 'stdout and stderr at debug level', content: Buffer.from(gateway.output()) };
  const sinks = [...api, ...tables, ...commands, ...files, ...refusals, output];

  for (const marker of [canaries.marker, ...canaries.encodedMarkers]) expect(showIn(sinks, marker)).toEqual([]);
  for (const key of [gateway.key, revoked.key, unkept.key, unknown, mistyped, ...inAddresses])
    expect(findIn([...sinks, ...upstreams.received()], key)).toEqual([]);
  // The search finds what is there: prompts in the bodies and their text, as the API shows them.
  const shown = findIn(api, PROMPT_MARKER);
  expect(shown.length).toBeGreaterThan(10);
  expect(shown.filter((name) => !name.endsWith('/request'))).toEqual([]);
  expect(
    findIn(
      [...tables.filter(({ name }) => !/llm_(?:bodies|texts)/.test(name)), ...commands, ...refusals, output],
      PROMPT_MARKER,
    ),
  ).toEqual([]);
  expect(findIn(files, PROMPT_MARKER).filter((name) => !/^file (?:spool|postgres)\//.test(name))).toEqual([]);
  expect(findIn(sinks, UNKEPT_MARKER)).toEqual([]);
  expect(new Set(canaries.places().map((place) => place.replace(/ \(.*$/, '')))).toEqual(new Set(PLACES));
  expect(sinks.map(({ name }) => name)).toEqual(expect.arrayContaining([...SINKS]));
  expect(files.some(({ name }) => name.startsWith('file spool/'))).toBe(true);
});

/** A run token that is good, first; then a key that may stand there, and what is refused: ended, unknown, mistyped. */
async function makeAddressTokens(): Promise<readonly string[]> {
  const { id: keyId } = await createKey({ name: 'runs' });
  const make = async () =>
    asRecord(
      await gateway.api('/api/v1/run-tokens', {
        method: 'POST',
        body: JSON.stringify({ key_id: keyId, trace_id: 'canary', name: 'canary', metadata: { Repo: 'canary' } }),
      }),
    );
  const good = await make();
  const ended = await make();
  await gateway.api(`/api/v1/run-tokens/${String(ended['id'])}`, { method: 'DELETE' });
  const allowed = await createKey({ name: 'in addresses', allow_in_address: true });
  const token = String(good['token']);
  const mistyped = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
  return [token, allowed.key, String(ended['token']), createRunToken(), createGatewayKey(), mistyped];
}

/** Writes a request whose answer hangs, and waits for the first of it. `place` stands in front of its path. */
async function hang(ending: string, place = ''): Promise<{ readonly destroy: () => void }> {
  const socket = connect(gateway.port, '127.0.0.1');
  socket.on('error', () => {});
  const headers = secretHeaders(canaries, place === '' ? gateway.key : '', ending);
  const target = `${place}/v1/chat/completions/wish-hanging?${secretQuery(canaries, ending)}`;
  socket.write(formatRequest({ target, headers, body: prompt(PROMPT_MARKER) }));
  let text = '';
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('invalid_key')) resolve();
    });
  });
  ids.push(/x-gateway-request-id: (\S+)/i.exec(text)?.[1] ?? 'none');
  return socket;
}

async function abandon(ending: string): Promise<void> {
  (await hang(ending)).destroy();
}

async function killProxyDuring(ending: string, place: string): Promise<void> {
  const socket = await hang(ending, place);
  const proxy = (await gateway.processes()).find(({ role }) => role === 'proxy');
  if (proxy?.pid == null) throw new Error('no proxy process');
  process.kill(proxy.pid, 'SIGKILL');
  socket.destroy();
  const record = await gateway.waitForLog(ids.at(-1) ?? '');
  expect(record).toMatchObject({ outcome: 'interrupted' });
}

async function sendByHttp2(place: string): Promise<void> {
  const session = connectHttp2(gateway.base);
  const headers = secretHeaders(canaries, place === '' ? gateway.key : '', 'http2').map((text, index) =>
    index % 2 === 0 ? text.toLowerCase() : text,
  );
  const path = `${place}/v1/chat/completions/wish-error?${secretQuery(canaries, 'http2')}`;
  const kept = headers.filter((_, index) => headers[index - (index % 2)] !== 'proxy-authorization');
  const answer = await readHttp2Answer(session, { method: 'POST', path, headers: kept, body: prompt(PROMPT_MARKER) });
  expect(answer.status).toBe(401);
  ids.push(answer.rawHeaders[answer.rawHeaders.indexOf('x-gateway-request-id') + 1] ?? 'none');
  session.close();
}

async function talk(place: string): Promise<void> {
  const headers: Record<string, string> = { 'X-Gateway-Provider-Alias': 'ws' };
  if (place === '') headers['X-Gateway-Key'] = gateway.key;
  for (const name of ['authorization', 'x-api-key', 'api-key', 'cookie'])
    headers[name] = canaries.make(`${name} (websocket)`);
  const protocol = `openai-insecure-api-key.${canaries.make('sec-websocket-protocol (websocket)')}`;
  const address = `ws://127.0.0.1:${gateway.port}${place}/v1/realtime?model=m&${secretQuery(canaries, 'websocket')}`;
  const client = new WebSocket(address, ['realtime', protocol], { headers });
  client.on('error', () => {});
  client.once('upgrade', (answer) => ids.push(String(answer.headers['x-gateway-request-id'])));
  await new Promise<void>((resolve) => client.once('message', () => resolve()));
  client.send(`{"type":"response.create","text":"${PROMPT_MARKER}"}`);
  await new Promise<void>((resolve) => client.once('close', () => resolve()));
}

test('files with secrets are for the gateway’s user only', async () => {
  expect(await send({ ending: 'ok' })).toBe(200);
  const modes = Object.fromEntries(
    ['.', 'admin.json', 'keys.json', 'postgres-password', 'owner.json', 'children.json', 'spool', 'postgres', 'socket']
      .map((name) => [name, statSync(join(dataDir, name), { throwIfNoEntry: false })?.mode] as const)
      .map(([name, mode]) => [name, mode === undefined ? null : (mode & 0o777).toString(8)]),
  );
  expect(modes).toEqual({
    // Others may pass through, since as root the database runs as another user, and cannot list it.
    '.': process.getuid?.() === 0 ? '711' : '700',
    'admin.json': '600',
    'children.json': '600',
    'keys.json': '600',
    'owner.json': '600',
    'postgres-password': '600',
    postgres: '700',
    socket: '700',
    spool: '700',
  });
  const spooled = readdirSync(join(dataDir, 'spool'), { recursive: true, encoding: 'utf8' });
  const shown = spooled.map((name) => [name, statSync(join(dataDir, 'spool', name)).mode & 0o077] as const);
  expect(shown.filter(([, others]) => others !== 0)).toEqual([]);
  expect(shown.length).toBeGreaterThan(1);
});
