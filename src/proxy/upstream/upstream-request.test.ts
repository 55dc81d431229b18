import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { UpstreamRequest } from './upstream.ts';
import { writeRequestHead } from './upstream-request.ts';

const HOP = 'Host: h\r\nConnection: keep-alive\r\n';
const GET: UpstreamRequest = {
  origin: 'http://h',
  mayBePrivate: true,
  method: 'GET',
  path: '/a?b',
  headers: [],
  body: null,
  bodyBytes: null,
};

test.each<[string, Partial<UpstreamRequest>, string]>([
  [
    'a Host of its own',
    { host: 'Bedrock-runtime.eu-west-1.amazonaws.com:443' },
    'GET /a?b HTTP/1.1\r\nHost: Bedrock-runtime.eu-west-1.amazonaws.com:443\r\nConnection: keep-alive\r\n\r\n',
  ],
  ['nothing but the hop', {}, `GET /a?b HTTP/1.1\r\n${HOP}\r\n`],
  [
    'headers in their order, case, duplicates and bytes',
    { headers: ['X-b', '1', 'x-B', '2', 'E', '', 'L', 'caf\u00e9 \t"'] },
    `GET /a?b HTTP/1.1\r\n${HOP}X-b: 1\r\nx-B: 2\r\nE: \r\nL: caf\u00e9 \t"\r\n\r\n`,
  ],
  [
    'a body with its length',
    { method: 'PROPFIND', body: Buffer.from('abc') },
    `PROPFIND /a?b HTTP/1.1\r\n${HOP}content-length: 3\r\n\r\n`,
  ],
  ['POST without a body', { method: 'POST' }, `POST /a?b HTTP/1.1\r\n${HOP}content-length: 0\r\n\r\n`],
  ['DELETE without a body', { method: 'DELETE' }, `DELETE /a?b HTTP/1.1\r\n${HOP}\r\n`],
  [
    'a stream of known length',
    { method: 'POST', body: Readable.from([]), bodyBytes: 7 },
    `POST /a?b HTTP/1.1\r\n${HOP}content-length: 7\r\n\r\n`,
  ],
  [
    'a stream',
    { method: 'POST', body: Readable.from([]) },
    `POST /a?b HTTP/1.1\r\n${HOP}transfer-encoding: chunked\r\n\r\n`,
  ],
])('writes %s', (_, request, head) => {
  expect(writeRequestHead({ ...GET, ...request }, { targetPrefix: '', lines: HOP })).toBe(head);
});

test('asks a proxy for the whole address', () => {
  expect(writeRequestHead(GET, { targetPrefix: 'http://h', lines: HOP })).toBe(
    `GET http://h/a?b HTTP/1.1\r\n${HOP}\r\n`,
  );
});

test.each<[string, Partial<UpstreamRequest>]>([
  ['a line end in a value', { headers: ['A', 'b\r\nC: d'] }],
  ['a bare CR in a value', { headers: ['A', 'b\rc'] }],
  ['NUL in a value', { headers: ['A', '\0'] }],
  ['a character that Latin-1 would turn into a line feed', { headers: ['A', 'b\u010aC: d'] }],
  ['a line end in a name', { headers: ['A\r\nB', 'c'] }],
  ['a colon in a name', { headers: ['A: b\u0020C', 'd'] }],
  ['an empty name', { headers: ['', 'd'] }],
  ['a space in the path', { path: '/a HTTP/1.1' }],
  ['a line end in the path', { path: '/a\r\nX: y' }],
  ['an empty path', { path: '' }],
  ['a space in the method', { method: 'GET /x' }],
  ['a second Host', { headers: ['host', 'x'] }],
  ['a second length', { headers: ['Content-Length', '3'] }],
  ['a second coding', { headers: ['Transfer-Encoding', 'chunked'] }],
])('refuses %s', (_, request) => {
  expect(() => writeRequestHead({ ...GET, ...request }, { targetPrefix: '', lines: HOP })).toThrow(
    'REQUEST_UNSENDABLE',
  );
});
