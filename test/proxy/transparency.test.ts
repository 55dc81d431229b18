import { gzipSync } from 'node:zlib';
import { beforeEach, expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerOptions, buildAnswer } from '../support/scripted-answer.ts';
import { compareWithDirect } from './compare-with-direct.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();

beforeEach(() => provider.setAnswer(() => buildAnswer({ body: '{}' })));

const CHAT = 'POST /v1/chat/completions HTTP/1.1';

function post(body: string | Buffer, headers: readonly string[] = []) {
  return {
    line: CHAT,
    headers: ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`, ...headers],
    body,
  };
}

test.each<[string, { line: string; headers: readonly string[]; body?: Buffer | string }]>([
  [
    'case, order and duplicates of headers, odd values included',
    post('{"model":"m"}', [
      'authorization: Bearer sk-secret',
      'X-CusTom: a',
      'anthropic-beta: a,b',
      'Anthropic-Beta: c',
      'X-Empty:',
      'X-Latin: caf\u00e9',
      'X-Utf8: \u00e6\u0097\u00a5',
      'Accept-Encoding: gzip, br;q=0.5',
      'Cookie: a=b; c="d"',
    ]),
  ],
  [
    'what a load balancer has added',
    post('{"model":"m"}', [
      'X-Forwarded-For: 203.0.113.9, 10.0.0.1',
      'X-Forwarded-Proto: https',
      'Forwarded: for=203.0.113.9;proto=https',
      'X-Real-IP: 203.0.113.9',
      'Via: 1.1 balancer',
      'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ]),
  ],
  ['a query byte for byte', { line: 'GET /v1/models?a=1&a=2&b=%20+&c&key=%2F HTTP/1.1', headers: ['X-A: 1'] }],
  ['an encoded path', { line: 'GET /v1/models/a%2Fb%3Ac%20d;x=1 HTTP/1.1', headers: [] }],
  ['an unknown endpoint and method', { line: 'PROPFIND /v1/whatever/else HTTP/1.1', headers: ['Depth: 1'] }],
  ['a HEAD request', { line: 'HEAD /v1/models HTTP/1.1', headers: [] }],
  ['an empty body of declared length', post('')],
  ['a body with JSON oddities', post('\ufeff {"model" : "m",\r\n "a":1e400, "a":"\\ud800", "x":"\\u0000" }')],
  [
    'a chunked body',
    { line: CHAT, headers: ['Transfer-Encoding: chunked'], body: '3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\n\r\n' },
  ],
  ['a gzip body', post(gzipSync('{"model":"m","stream":true}'), ['Content-Encoding: gzip'])],
  [
    'a multipart body',
    {
      line: 'POST /v1/audio/transcriptions HTTP/1.1',
      headers: ['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 9'],
      body: '--x\r\n\r\nab',
    },
  ],
])('the provider gets what the client sent: %s', async (_, request) => {
  const { direct, through } = await compareWithDirect(provider, proxy, request, [
    'X-Gateway-Trace-Id: t1',
    'X-Gateway-Feature: x',
  ]);
  expect(through.provider).toEqual(direct.provider);
  expect(through.client).toEqual(direct.client);
});

test.each<[string, AnswerOptions]>([
  ['a small JSON answer', { headers: [['Content-Type', 'application/json']], body: '{"id":"x"}' }],
  [
    'case, order, duplicates and bytes of headers, and the reason phrase',
    {
      status: 429,
      reason: 'Slow down, please',
      headers: [
        ['retry-after', '17'],
        ['X-RateLimit-Limit', '5'],
        ['Set-Cookie', 'a=1'],
        ['set-cookie', 'b=2'],
        ['X-Latin', 'caf\u00e9'],
        ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
        ['Server', 'x'],
      ],
      body: '{"error":{"message":"no"}}',
    },
  ],
  ['a status that is not registered', { status: 529, reason: 'Overloaded', body: 'busy' }],
  ['an empty answer', { body: '' }],
  ['no content', { status: 204, reason: 'No Content', framing: 'none' }],
  ['not modified', { status: 304, reason: 'Not Modified', framing: 'none', headers: [['ETag', '"a"']] }],
  [
    'a redirect, not followed',
    { status: 303, reason: 'See Other', headers: [['Location', 'http://127.0.0.1:1/x']], body: '' },
  ],
  [
    'a gzip answer',
    { encoding: 'gzip', headers: [['Content-Type', 'application/json']], body: '{"usage":{"prompt_tokens":1}}' },
  ],
  [
    'a zstd stream',
    { encoding: 'zstd', framing: 'chunked', headers: [['Content-Type', 'text/event-stream']], body: 'data: {}\n\n' },
  ],
  ['an answer that ends with the connection', { framing: 'close', body: 'until the end' }],
  ['chunk extensions, taken off', { framing: 'chunked', chunkExtension: ';a=b', body: 'abcdef', cuts: [3] }],
  [
    'bytes that are no text',
    { framing: 'chunked', body: Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)), cuts: [1, 7] },
  ],
  ['interim answers, dropped', { informational: ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'], body: 'x' }],
])('the client gets what the provider sent: %s', async (_, answer) => {
  provider.setAnswer(() => buildAnswer(answer));
  const { direct, through } = await compareWithDirect(provider, proxy, post('{"model":"m"}'));
  expect(through.client).toEqual(direct.client);
  expect(through.requestId).toMatch(/^[0-9a-f-]{36}$/);
});

test('hop-by-hop headers and those that Connection names stay on their hop, both ways; X-Gateway headers too', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: [
        ['Connection', 'X-Hop'],
        ['X-Hop', '1'],
        ['Keep-Alive', 'timeout=9'],
        ['Proxy-Authenticate', 'Basic'],
        ['Proxy-Connection', 'keep-alive'],
        ['Trailer', 'X-T'],
        ['X-Gateway-Evil', '1'],
        ['X-End', '1'],
      ],
      body: 'x',
    }),
  );
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    [
      'GET /v1/models HTTP/1.1',
      'Host: a',
      `X-Gateway-Key: ${proxy.key}`,
      'Connection: close, X-Mine',
      'X-Mine: 1',
      'Keep-Alive: timeout=9',
      'TE: trailers',
      'Trailer: X-T',
      'Proxy-Authorization: Basic x',
      'Proxy-Connection: keep-alive',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQAAP__',
      'X-End: 1',
      '',
      '',
    ].join('\r\n'),
  );
  const seen = provider.requests.at(-1);
  const names = (raw: readonly string[]): string[] =>
    raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  expect(names(seen?.rawHeaders ?? []).sort()).toEqual(['connection', 'host', 'te', 'x-end']);
  const ofTheHop = ['x-hop', 'keep-alive', 'proxy-authenticate', 'proxy-connection', 'trailer', 'x-gateway-evil'];
  for (const name of ofTheHop) expect(names(answer.rawHeaders)).not.toContain(name);
  expect(names(answer.rawHeaders)).toContain('x-end');
});
