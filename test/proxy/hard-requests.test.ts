/**
 * Requests that have broken other gateways, over real sockets: what two readers may understand in two ways is refused
 * and never repaired; everything else reaches the provider byte for byte.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RecordedRequest, type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type RawAnswer, readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answerHead: (request) => {
      if (request.header('x-refuse-early') !== null)
        return buildAnswer({ status: 413, reason: 'Too Large', body: '{"error":"too large"}' });
      if (request.header('x-answer-early') === null) return null;
      return [...buildAnswer({ framing: 'chunked', body: 'early' }).slice(0, -1), { waitMs: 10_000 }];
    },
  });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});
beforeEach(() => provider.setAnswer(() => buildAnswer({ body: '{}' })));

const CHAT = 'POST /v1/chat/completions HTTP/1.1';

function send(line: string, headers: readonly string[], body: string | Buffer = ''): Promise<RawAnswer> {
  const head = [line, 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...headers, '', ''].join('\r\n');
  return readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)]));
}

async function sendThrough(line: string, headers: readonly string[] = [], body = ''): Promise<RecordedRequest> {
  const index = provider.requests.length;
  const answer = await send(line, headers, body);
  expect(answer.status).toBe(200);
  return provider.waitForRequest(index);
}

/** Everything that comes until the connection ends. */
function readToEnd(bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(proxy.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    socket.on('error', () => {}); // `close` follows.
    socket.on('close', () => resolve(text));
    socket.write(bytes, 'latin1');
  });
}

describe('a request that can be read in two ways is refused, and nothing reaches the provider', () => {
  const smuggled = 'GET /v1/models?smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

  test.each<[string, string, readonly string[], string]>([
    ['both lengths', CHAT, ['Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['two different lengths', CHAT, ['Content-Length: 4', 'Content-Length: 5'], 'abcde'],
    ['a list of lengths', CHAT, ['Content-Length: 4, 4'], 'abcd'],
    ['a length with a sign', CHAT, ['Content-Length: +4'], 'abcd'],
    ['a length in hexadecimal', CHAT, ['Content-Length: 0x4'], 'abcd'],
    ['a length with an underscore', CHAT, ['Content-Length: 1_0'], '0123456789'],
    ['a negative length', CHAT, ['Content-Length: -1'], ''],
    ['a coding beside chunked', CHAT, ['Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
    ['a coding that is not chunked', CHAT, ['Transfer-Encoding: identity'], ''],
    ['chunked twice', CHAT, ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['chunks in HTTP/1.0', CHAT.replace('1.1', '1.0'), ['Transfer-Encoding: chunked'], '0\r\n\r\n'],
    ['a chunk size in another form', CHAT, ['Transfer-Encoding: chunked'], '0x2\r\nab\r\n0\r\n\r\n'],
    ['two hosts', CHAT, ['Host: b', 'Content-Length: 0'], ''],
    ['a space before a colon', CHAT, ['Content-Length : 4'], 'abcd'],
    ['a folded header', CHAT, ['X-A: 1', ' 2', 'Content-Length: 0'], ''],
    ['dot segments', 'GET /v1/../admin HTTP/1.1', [], ''],
    ['encoded dot segments', 'GET /v1/%2e%2E/admin HTTP/1.1', [], ''],
    ['a backslash', 'GET /v1\\models HTTP/1.1', [], ''],
    ['an encoded NUL', 'GET /v1/models%00 HTTP/1.1', [], ''],
    ['two slashes in front', 'GET //evil/v1/models HTTP/1.1', [], ''],
    ['a credential that Connection names', CHAT, ['Connection: authorization', 'Content-Length: 0'], ''],
    ['an unknown expectation', CHAT, ['Expect: 200-ok', 'Content-Length: 0'], ''],
    ['the gateway’s key twice', CHAT, ['X-Gateway-Key: tgk_x', 'Content-Length: 0'], ''],
  ])('%s', async (_, line, headers, body) => {
    const seen = provider.requests.length;
    const head = [line, 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...headers, '', ''].join('\r\n');
    const text = await readToEnd(`${head}${body}${smuggled}`);
    expect(text).toMatch(/^HTTP\/1\.1 (?:4\d\d|501) /);
    // One answer, and the connection is closed: what stood behind was not run.
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(provider.requests.length).toBe(seen);
  });

  test('a key in a trailer is none', async () => {
    const seen = provider.requests.length;
    const text = await readToEnd(
      `${CHAT}\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(provider.requests.length).toBe(seen);
  });

  test('a megabyte of chunk extensions', async () => {
    const seen = provider.requests.length;
    const head = `${CHAT}\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const text = await readToEnd(`${head}1;${'x'.repeat(1_000_000)}\r\na\r\n0\r\n\r\n`);
    expect(text).not.toMatch(/^HTTP\/1\.1 2/);
    expect(provider.requests.filter((request, index) => index >= seen && request.isWhole())).toEqual([]);
  });
});

describe('what cannot be read', () => {
  const request = (line: string, headers: readonly string[]): string =>
    [line, 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...headers, '', ''].join('\r\n');

  test('behind a request whose answer is still to come: that answer is whole, and the last', async () => {
    provider.setAnswer(() => buildAnswer({ body: 'whole', delayMs: 100 }));
    const text = await readToEnd(`${request('GET /v1/models HTTP/1.1', [])}garbage\r\n\r\n`);
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(text.endsWith('\r\n\r\nwhole')).toBe(true);
  });

  test('in a body whose answer has begun: the answer breaks off, and nothing is written into it', async () => {
    const begun = Promise.withResolvers<void>();
    const socket = connect(proxy.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
      if (text.includes('early')) begun.resolve();
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {}); // `close` follows.
    const head = request('POST /v1/files HTTP/1.1', ['Transfer-Encoding: chunked', 'X-Answer-Early: 1']);
    // Larger than what is held, so that it goes on while it comes.
    socket.write(`${head}80000\r\n${'x'.repeat(0x80000)}\r\n`);
    await begun.promise;
    socket.write('zz\r\n');
    await closed;
    expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(text.endsWith('5\r\nearly\r\n')).toBe(true);
  });
});

describe('the target of a request', () => {
  test.each([
    '/v1/messages?beta=true',
    '/v1/models?',
    '/v1/models?a=1&a=2&b=%20+&c',
    '/v1/files/a%2Fb%3Ac/content?x=/?',
    '/model/arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc/converse',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A111122223333%3Aapplication-inference-profile%2Fabc/converse',
    '/model/anthropic.claude-x-v1%3A0/converse',
    '/v1/something;v=1/unheard-of..of',
  ])('%s arrives as it was sent', async (target) => {
    expect((await sendThrough(`POST ${target} HTTP/1.1`, ['Content-Length: 2'], '{}')).target).toBe(target);
  });

  test.each([
    ['arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc'],
    ['arn%3Aaws%3Abedrock%3Aus-east-1%3A111122223333%3Aapplication-inference-profile%2Fabc'],
  ])('names the model in its decoded form: %s', async (model) => {
    await sendThrough(`POST /model/${model}/converse HTTP/1.1`, ['Content-Length: 2'], '{}');
    const { begin } = await proxy.lastCall();
    expect(begin.modelRequested).toBe('arn:aws:bedrock:us-east-1:111122223333:application-inference-profile/abc');
  });

  test.each([
    ['/v1/v1/messages', '/v1/messages'],
    ['/messages', '/v1/messages'],
    ['/chat/completions', '/v1/chat/completions'],
  ])('%s, which a wrong base makes, is routed as meant and says so', async (target, meant) => {
    expect((await sendThrough(`POST ${target} HTTP/1.1`, ['Content-Length: 2'], '{}')).target).toBe(meant);
    expect((await proxy.lastCall()).begin.flags).toEqual(['path_repaired']);
  });

  test('a path that belongs to nobody is refused with the header and the base that are missing', async () => {
    const answer = await send('POST /nobody/knows HTTP/1.1', ['Content-Length: 2'], '{}');
    expect(answer.status).toBe(404);
    expect(answer.rawHeaders).toContain('provider_required');
    expect(answer.body.toString()).toContain('X-Gateway-Provider');
  });

  test('a target of another host is refused, and one that names the gateway is as any other', async () => {
    const seen = provider.requests.length;
    expect((await send('GET http://evil.example/v1/models HTTP/1.1', [])).status).toBe(400);
    expect(provider.requests.length).toBe(seen);
    const own = await sendThrough(`GET http://127.0.0.1:${proxy.port}/v1/models HTTP/1.1`);
    expect(own.target).toBe('/v1/models');
  });
});

describe('headers', () => {
  test.each([
    ['beside Node’s default limit, below', 16_383, 200],
    ['beside Node’s default limit, above', 16_385, 200],
    ['of 63 KiB', 63 * 1024, 200],
    ['of 66 KiB', 66 * 1024, 431],
  ])('%s', async (_, bytes, status) => {
    const answer = await send('GET /v1/models HTTP/1.1', ['Connection: close', `X-Long: ${'x'.repeat(bytes - 200)}`]);
    expect(answer.status).toBe(status);
    if (status === 431) expect(JSON.parse(answer.body.toString())).toMatchObject({ type: 'error' });
  });

  test('headers of the clients’ own features arrive in order, case and number', async () => {
    const sent = [
      'anthropic-version: 2023-06-01',
      'anthropic-beta: a,b',
      'Anthropic-Beta: c',
      'OpenAI-Beta: responses=v1',
      'x-stainless-lang: js',
      'X-Custom: Z\u00c3\u00bcrich \u00e6\u0097\u00a5',
    ];
    const { rawHeaders } = await sendThrough('GET /v1/models HTTP/1.1', sent);
    const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${rawHeaders[at + 1]}`] : []));
    expect(lines.filter((line) => sent.includes(line))).toEqual(sent);
  });

  test('headers of an answer that are too large become a 502, not a crash', async () => {
    provider.setAnswer(() => buildAnswer({ headers: [['X-Long', 'x'.repeat(200 * 1024)]], body: '{}' }));
    expect((await send('GET /v1/models HTTP/1.1', [])).status).toBe(502);
    provider.setAnswer(() => buildAnswer({ body: '{}' }));
    expect((await send('GET /v1/models HTTP/1.1', [])).status).toBe(200);
  });
});

describe('a limit or an overload of the provider', () => {
  test.each<[string, number, readonly (readonly [string, string])[]]>([
    ['with seconds to wait', 529, [['retry-after', '17']]],
    ['without a time', 529, []],
    [
      'with a date',
      429,
      [
        ['Retry-After', 'Wed, 21 Oct 2026 07:28:00 GMT'],
        ['x-ratelimit-remaining', '0'],
      ],
    ],
    ['for a moment', 503, [['retry-after-ms', '250']]],
  ])('%s passes at once and is not tried again', async (name, status, headers) => {
    provider.setAnswer(() =>
      buildAnswer({ status, reason: 'Busy', headers, body: '{"error":{"type":"x","message":"m"}}' }),
    );
    const answer = await send(CHAT, ['Content-Length: 2', `X-Call-Id: ${name}`], '{}');
    expect(answer.statusLine).toBe(`HTTP/1.1 ${status} Busy`);
    expect(answer.rawHeaders).toEqual(expect.arrayContaining(headers.flat()));
    expect(provider.ledger.get(name)).toBe(1);
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'upstream_error', status });
  });

  test('a limit that comes while a large body is still on its way reaches the client', async () => {
    const body = Buffer.alloc(11 * 1024 * 1024, 'x');
    const answer = await send('POST /v1/files HTTP/1.1', [`Content-Length: ${body.length}`, 'X-Refuse-Early: 1'], body);
    expect(answer).toMatchObject({ status: 413, end: 'complete' });
    expect(answer.body.toString()).toBe('{"error":"too large"}');
  });
});

test('a provider that runs a call and then closes without an answer has run it once', async () => {
  provider.setAnswer(() => [{ reset: true }]);
  const answer = await send(CHAT, ['Content-Length: 2', 'X-Call-Id: once'], '{}');
  expect(answer.status).toBe(502);
  expect(provider.ledger.get('once')).toBe(1);
});

test('an answer to HEAD has its length and no body', async () => {
  provider.setAnswer(() => [{ write: 'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n' }]);
  const answer = await send('HEAD /v1/models HTTP/1.1', []);
  expect(answer.body.length).toBe(0);
  expect(answer.rawHeaders.map((text) => text.toLowerCase())).toContain('1234');
});

test('pipelined requests are answered in their order', async () => {
  provider.setAnswer((request) =>
    buildAnswer({ body: request.target.slice(-1), delayMs: request.target.endsWith('1') ? 100 : 0 }),
  );
  const request = (n: number, close: string): string =>
    `GET /v1/models?${n} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n${close}\r\n`;
  const text = await readToEnd(request(1, '') + request(2, '') + request(3, 'Connection: close\r\n'));
  expect(Array.from(text.matchAll(/\r\n\r\n(\d)/g), ([, body]) => body)).toEqual(['1', '2', '3']);
});

test('two tenants in turns get each their own answers, with their own credentials', async () => {
  provider.setAnswer((request) => buildAnswer({ body: `${request.header('authorization')}` }));
  const one = (n: number) => send('GET /v1/models HTTP/1.1', [`Authorization: Bearer token-${n}`]);
  const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => one(n)));
  expect(answers.map(({ body }) => body.toString())).toEqual(answers.map((_, n) => `Bearer token-${n}`));
});
