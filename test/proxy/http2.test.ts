import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProxyServer } from '../../src/proxy/proxy-server.ts';
import type { RecordedRequest } from '../support/fake-provider.ts';
import { listFixtures } from '../support/fixtures.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { type Http2Answer, type Http2Call, headerOf, readHttp2Answer } from './read-http2-answer.ts';

const { provider, proxy } = await openProxy();
let session: ClientHttp2Session;

beforeEach(() => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  session = openSession();
});
afterEach(() => session.destroy());

function openSession(): ClientHttp2Session {
  // Node's client would not send more than 64 KiB of headers, and would refuse answers while it holds 10 MB unsent.
  const opened = connect(proxy.base, { maxSendHeaderBlockLength: 512 * 1024, maxSessionMemory: 100 });
  opened.on('error', () => {}); // its streams tell
  return opened;
}

function call(given: Http2Call): Promise<Http2Answer> {
  return readHttp2Answer(session, { ...given, headers: ['x-gateway-key', proxy.key, ...(given.headers ?? [])] });
}

const MESSAGES = { method: 'POST', path: '/v1/messages', body: '{"model":"claude-x"}' } as const;

/** Headers of one hop. */
const HOP = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'x-gateway-request-id',
]);

function pairs(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 1 || HOP.has(name.toLowerCase()) ? [] : [`${name.toLowerCase()}: ${rawHeaders[index + 1]}`],
  );
}

function providerView({ requestLine, rawHeaders, body }: RecordedRequest) {
  return { requestLine, headers: pairs(rawHeaders), body: body().toString('latin1') };
}

/** The same call over HTTP/1.1 and over HTTP/2: what both sides saw, with names in lower case. */
async function compareProtocols(given: Http2Call): Promise<void> {
  const { method = 'GET', path, headers = [], body } = given;
  const first = provider.requests.length;
  const lines = headers.flatMap((name, index) => (index % 2 === 1 ? [] : [`${name}: ${headers[index + 1]}`]));
  const length = body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const head = [`${method} ${path} HTTP/1.1`, 'Host: gateway', `X-Gateway-Key: ${proxy.key}`, ...lines, ...length];
  const before = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body ?? '')]),
  );
  const declared = body === undefined ? [] : ['content-length', String(Buffer.byteLength(body))];
  const answer = await call({ ...given, headers: [...headers, ...declared] });
  expect(answer.end).toBe(before.end);
  expect(answer.status).toBe(before.status);
  expect(pairs(answer.rawHeaders)).toEqual(pairs(before.rawHeaders));
  expect(answer.body.equals(before.body)).toBe(true);
  const seen = await provider.waitForRequest(first + 1);
  const expected = await provider.waitForRequest(first);
  expect(providerView(seen)).toEqual(providerView(expected));
  const records = await Promise.all(
    [
      headerOf(answer, 'x-gateway-request-id'),
      before.rawHeaders.at(before.rawHeaders.indexOf('X-Gateway-Request-Id') + 1),
    ].map((id) => proxy.waitForCall(id ?? '')),
  );
  const [overHttp2, overHttp11] = records.map(({ end }) => ({ ...end, ...NOT_COMPARED }));
  expect(overHttp2).toEqual(overHttp11);
}

/** Times, and what an id says. */
const NOT_COMPARED = {
  id: '',
  respondedAtMs: 0,
  durationMs: 0,
  connectMs: null,
  headersMs: null,
  firstByteMs: null,
  firstTokenMs: null,
  overheadUs: 0,
};

test.each(listFixtures().map((fixture) => [`${fixture.provider}/${fixture.name}`, fixture] as const))(
  'over HTTP/2 as over HTTP/1.1: %s',
  async (_, fixture) => {
    const { request } = fixture;
    const framing = fixture.name.includes('stream') ? 'chunked' : 'length';
    const headers = Object.entries(fixture.headers).filter(([name]) => !HOP.has(name.toLowerCase()));
    provider.setAnswer(() =>
      buildAnswer({ status: fixture.status, headers, framing, body: fixture.body, cuts: [10, 200] }),
    );
    const own = Object.entries(request.headers).filter(([name]) => name.toLowerCase() !== 'x-gateway-provider');
    await compareProtocols({
      method: request.method,
      path: request.path,
      headers: [...own.flat(), 'x-gateway-provider', fixture.provider],
      ...(request.body === null ? {} : { body: JSON.stringify(request.body) }),
    });
  },
);

test.each<[string, AnswerOptions, Partial<Http2Call>]>([
  [
    'headers twice, in their order, with bytes beyond ASCII; nothing is added',
    {
      status: 429,
      headers: [
        ['retry-after', '17'],
        ['Set-Cookie', 'a=1'],
        ['X-Latin', 'caf\u00e9'],
        ['set-cookie', 'b=2'],
        ['1', 'a name that is a number'],
        ['Content-Type', 'a/b'],
        ['Content-Type', 'c/d'],
      ],
      body: 'no',
    },
    { headers: ['anthropic-beta', 'a', 'x-latin', 'caf\u00e9', 'anthropic-beta', 'b', 'cookie', 'a=b', 'x-empty', ''] },
  ],
  ['no content', { status: 204, framing: 'none' }, {}],
  ['not modified', { status: 304, framing: 'none', headers: [['ETag', '"a"']] }, {}],
  ['an empty answer', { body: '' }, {}],
  ['a status that is not registered', { status: 529, body: 'busy' }, {}],
  ['a HEAD request', { headers: [['content-length', '77']], framing: 'none' }, { method: 'HEAD', path: '/v1/models' }],
  ['an encoded path and a query', { body: '{}' }, { path: '/model/arn%3Aaws%3Abedrock%2Fx/converse?a=%20+&a=b' }],
  ['an unknown method and endpoint', { body: '{}' }, { method: 'PROPFIND', path: '/v1/whatever/else' }],
  [
    'trailers and interim answers, dropped',
    {
      framing: 'chunked',
      trailers: [['x-sum', '1']],
      informational: ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'],
      body: 'ab',
      cuts: [1],
    },
    {},
  ],
  ['a compressed stream', { framing: 'chunked', encoding: 'gzip', body: 'data: {}\n\n' }, {}],
])('over HTTP/2 as over HTTP/1.1: %s', async (_, answer, given) => {
  provider.setAnswer(() => buildAnswer(answer));
  await compareProtocols({ ...MESSAGES, ...given, ...(given.method === undefined ? {} : { body: '' }) });
});

test('headers of the connection stay on the hop: none of the provider reaches the client', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: [
        ['Connection', 'keep-alive, x-hop'],
        ['Keep-Alive', 'timeout=5'],
        ['X-Hop', '1'],
        ['X-End', '1'],
      ],
      body: '{}',
    }),
  );
  const answer = await call(MESSAGES);
  expect(answer.rawHeaders.filter((_, index) => index % 2 === 0)).toEqual([
    'x-end',
    'content-length',
    'x-gateway-request-id',
  ]);
});

test('the request reads as the HTTP/1.1 request that it stands for: authority, cookies in crumbs, a body without length', async () => {
  const first = provider.requests.length;
  await call({
    ...MESSAGES,
    headers: ['cookie', 'a=1', 'x-a', 'b', 'cookie', 'c=2', 'te', 'trailers', 'host', `127.0.0.1:${proxy.port}`],
  });
  const seen = await provider.waitForRequest(first);
  expect(seen.rawHeaders).toEqual([
    'Host',
    `127.0.0.1:${provider.port}`,
    'Connection',
    'keep-alive, TE',
    'TE',
    'trailers',
    'cookie',
    'a=1; c=2',
    'x-a',
    'b',
    'content-length',
    '20',
  ]);
});

test('metadata, run and name of the call come from headers in lower case', async () => {
  await call({
    ...MESSAGES,
    headers: [
      'x-gateway-trace-id',
      't1',
      'x-gateway-span-path',
      'a/b',
      'x-gateway-feature',
      'caf\u00c3\u00a9',
      'user-agent',
      'curl/8',
    ],
  });
  expect((await proxy.lastCall()).begin).toMatchObject({
    traceId: 't1',
    spanPath: 'a/b',
    client: 'curl',
    metadata: [['feature', 'café']],
    provider: 'anthropic',
    modelRequested: 'claude-x',
  });
});

test('bodies of 3 MB in parallel on one session, whole in both directions, beside a call over HTTP/1.1', async () => {
  provider.setAnswer((request) => buildAnswer({ framing: 'chunked', body: request.body() }));
  const bodies = Array.from({ length: 8 }, (_, index) => Buffer.alloc(3_000_000 + index, `part ${index} `));
  const answers = Promise.all(bodies.map((body) => call({ ...MESSAGES, path: '/v1/files', body })));
  const beside = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `POST /v1/files HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nContent-Length: 4\r\n\r\nside`,
  );
  expect(beside.body.toString()).toBe('side');
  for (const [index, answer] of (await answers).entries()) {
    expect(answer.end).toBe('complete');
    expect(answer.body.equals(bodies[index] ?? Buffer.alloc(0))).toBe(true);
  }
});

test('"100 Continue" comes after the key is known, and only then', async () => {
  const first = provider.requests.length;
  const waits = { method: 'POST', path: '/v1/messages', headers: ['expect', '100-continue'] };
  const answer = await call({
    ...waits,
    onStream: (stream) => stream.on('continue', () => stream.end('{"model":"m"}')),
    isOpen: true,
  });
  expect(answer).toMatchObject({ status: 200, continues: 1, end: 'complete' });
  const seen = await provider.waitForRequest(first);
  expect(seen.header('expect')).toBeNull();
  expect(seen.body().toString()).toBe('{"model":"m"}');
  const refused = await readHttp2Answer(session, { ...waits, isOpen: true });
  expect(refused).toMatchObject({ status: 401, continues: 0, end: 'complete' });
  expect(provider.requests).toHaveLength(first + 1);
});

test('the health addresses answer', async () => {
  for (const path of ['/healthz', '/readyz']) {
    const answer = await readHttp2Answer(session, { path });
    expect([answer.status, answer.body.toString()]).toEqual([200, '{"status":"ok"}']);
  }
});

test.each<[string, Http2Call, number, string]>([
  ['no key', { path: '/v1/models' }, 401, 'key_missing'],
  ['another host beside the authority', { path: '/v1/models', headers: ['host', 'elsewhere'] }, 400, 'host_invalid'],
  ['OPTIONS *', { method: 'OPTIONS', path: '*' }, 405, 'method_unsupported'],
  ['TRACE', { method: 'TRACE', path: '/v1/models' }, 405, 'method_unsupported'],
  ['dot segments', { path: '/v1/../x' }, 400, 'target_invalid'],
  [
    'a repeated key',
    { path: '/v1/models', headers: ['x-gateway-key', 'a', 'x-gateway-key', 'b'] },
    400,
    'header_repeated',
  ],
  ['headers above 64 KiB', { path: '/v1/models', headers: ['x-long', 'x'.repeat(70_000)] }, 431, 'headers_too_large'],
  [
    'more than 200 headers',
    { path: '/v1/models', headers: Array.from({ length: 402 }, (_, index) => (index % 2 === 0 ? `x-${index}` : 'a')) },
    431,
    'headers_too_large',
  ],
])('%s: the refusal that HTTP/1.1 gets', async (_, given, status, code) => {
  const first = provider.requests.length;
  const answer = await readHttp2Answer(session, given);
  expect([answer.status, headerOf(answer, 'x-gateway-error'), answer.end]).toEqual([status, code, 'complete']);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ type: 'error', error: { code } });
  expect(provider.requests).toHaveLength(first);
});

test('headers of 60 KB pass', async () => {
  const answer = await call({ ...MESSAGES, headers: ['x-long', 'x'.repeat(60_000)] });
  expect(answer.status).toBe(200);
});

test('CONNECT is refused', async () => {
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'elsewhere:443' });
  const status = await new Promise((resolve) => stream.once('response', (headers) => resolve(headers[':status'])));
  expect(status).toBe(405);
});

test('a refused call with its body still on the way leaves the session to the other calls', async () => {
  const refused = await readHttp2Answer(session, { ...MESSAGES, body: Buffer.alloc(8_000_000) });
  expect(refused).toMatchObject({ status: 401 });
  expect(await call(MESSAGES)).toMatchObject({ status: 200, end: 'complete' });
});

test('a session keeps nothing of the calls before it: HTTP/2 and HTTP/1.1 share the port', async () => {
  const before = await readRawAnswer('127.0.0.1', proxy.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(before.status).toBe(200);
  expect(await call(MESSAGES)).toMatchObject({ status: 200 });
  const after = await readRawAnswer('127.0.0.1', proxy.port, 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(after.status).toBe(200);
});

test('of connections that have ended nothing is kept', async () => {
  const { server, sessions, stalled } = createProxyServer(proxy.gateway);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const opened = Array.from({ length: 5 }, () => connect(`http://127.0.0.1:${Object(server.address()).port}`));
  for (const one of opened)
    expect(await readHttp2Answer(one, { method: 'GET', path: '/healthz' })).toMatchObject({ status: 200 });
  expect([sessions.size, stalled.size]).toEqual([5, 5]);
  for (const one of opened) one.destroy();
  await expect.poll(() => [sessions.size, stalled.size]).toEqual([0, 0]);
  server.close();
});
