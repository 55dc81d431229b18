/**
 * Malformed and ambiguous requests in the frames of HTTP/2, as literal header lists and frames: what would become two
 * requests, another host or another length once it is written as HTTP/1.1, and what is no HTTP/2 at all.
 */
import type { GatewayErrorCode } from '../../../src/vocabulary/errors.ts';
import {
  END_HEADERS,
  END_STREAM,
  frame,
  PREFACE,
  RST_STREAM,
  SETTINGS,
  SETTINGS_FRAME,
  WINDOW_UPDATE,
} from '../../proxy/http2-frames.ts';
import { KEY } from './request-case.ts';

export type Http2Outcome =
  /** An answer of the gateway's own; the provider got no byte. */
  | { readonly kind: 'refused'; readonly code: GatewayErrorCode }
  /** The stream was reset, the session goes on; the provider got no byte. */
  | { readonly kind: 'stream reset' }
  /** GOAWAY or a closed connection; the provider got no byte. */
  | { readonly kind: 'session ended' }
  /** The provider got exactly this. */
  | {
      readonly kind: 'passed';
      readonly method: string;
      readonly target: string;
      readonly body: string;
      readonly headers?: readonly string[];
    }
  /** It waits for more; the provider got no byte. */
  | { readonly kind: 'unfinished' };

export interface Http2Case {
  readonly name: string;
  /** Behind the preface and the client's settings; on stream 1, and nothing on stream 3. */
  readonly frames: (key: string) => readonly Buffer[];
  readonly outcome: Http2Outcome;
  /** What is wrong comes behind a request that is whole by then, and is run unless both come in one packet. */
  readonly isOnePacket: boolean;
}

const DATA = 0;
const HEADERS = 1;
const PRIORITY = 2;
const PUSH_PROMISE = 5;
const PING = 6;
const GOAWAY = 7;
const CONTINUATION = 9;
const PADDED = 0x8;
const WITH_PRIORITY = 0x20;

type Header = readonly [name: string, value: string];

/** Literals without indexing (RFC 7541 6.2.2), of any length; Latin-1. */
export function block(headers: readonly Header[], key: string): Buffer {
  const text = (value: string): Buffer => {
    const bytes = Buffer.from(value.replaceAll(KEY, key), 'latin1');
    return Buffer.concat([integer(bytes.length), bytes]);
  };
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));
}

/** With a prefix of 7 bits and its flag 0. */
function integer(value: number): Buffer {
  if (value < 127) return Buffer.from([value]);
  const bytes = [127];
  let left = value - 127;
  while (left >= 128) {
    bytes.push((left % 128) + 128);
    left = Math.floor(left / 128);
  }
  return Buffer.from([...bytes, left]);
}

const START: readonly Header[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'gateway.test'],
  [':path', '/v1/models'],
];
const POST: readonly Header[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':authority', 'gateway.test'],
  [':path', '/v1/echo'],
];
const OURS: Header = ['x-gateway-key', KEY];

/** These instead of the usual ones of the same name. */
function replaced(...headers: readonly Header[]): Header[] {
  return START.map(([name, value]) => headers.find(([other]) => other === name) ?? [name, value]);
}

function request(headers: readonly Header[], flags = END_HEADERS | END_STREAM) {
  return (key: string): readonly Buffer[] => [frame(HEADERS, flags, 1, block(headers, key))];
}

function withBody(headers: readonly Header[], ...pieces: readonly string[]) {
  return (key: string): readonly Buffer[] => [
    frame(HEADERS, END_HEADERS, 1, block([...POST, OURS, ...headers], key)),
    ...pieces.map((piece, at) => frame(DATA, at === pieces.length - 1 ? END_STREAM : 0, 1, Buffer.from(piece))),
  ];
}

const RESET: Http2Outcome = { kind: 'stream reset' };
const ENDED: Http2Outcome = { kind: 'session ended' };
const OK: Http2Outcome = { kind: 'passed', method: 'GET', target: '/v1/models', body: '' };
const POSTED: Http2Outcome = { kind: 'passed', method: 'POST', target: '/v1/echo', body: 'abcd' };
const refused = (code: GatewayErrorCode): Http2Outcome => ({ kind: 'refused', code });

type Row = readonly [string, (key: string) => readonly Buffer[], Http2Outcome];

const HEADS: readonly Row[] = [
  ['as it should be', request([...START, OURS]), OK],
  ['no method', request([...START.slice(1), OURS]), RESET],
  ['no scheme', request([...START.filter(([name]) => name !== ':scheme'), OURS]), RESET],
  ['no path', request([...START.filter(([name]) => name !== ':path'), OURS]), RESET],
  ['no authority and no host', request([...START.filter(([name]) => name !== ':authority'), OURS]), RESET],
  [
    'a host in place of the authority',
    request([...START.filter(([name]) => name !== ':authority'), ['host', 'gateway.test'], OURS]),
    OK,
  ],
  ['an empty path', request([...replaced([':path', '']), OURS]), RESET],
  ['the path twice', request([...START, [':path', '/v1/other'], OURS]), RESET],
  ['the method twice', request([...START, [':method', 'POST'], OURS]), RESET],
  ['the authority twice', request([...START, [':authority', 'evil.test'], OURS]), RESET],
  ['a pseudo-header behind a header', request([OURS, ...START]), RESET],
  ['a pseudo-header of an answer', request([...START, [':status', '200'], OURS]), RESET],
  ['an unknown pseudo-header', request([...START, [':evil', '1'], OURS]), RESET],
  [
    ':protocol, as for a websocket',
    request([...replaced([':method', 'CONNECT']), [':protocol', 'websocket'], OURS]),
    RESET,
  ],
  ['CONNECT', request([[':method', 'CONNECT'], [':authority', 'evil.test:443'], OURS]), refused('method_unsupported')],
  ['TRACE', request([...replaced([':method', 'TRACE']), OURS]), refused('method_unsupported')],
  ['OPTIONS *', request([...replaced([':method', 'OPTIONS'], [':path', '*']), OURS]), refused('method_unsupported')],
  ['GET *', request([...replaced([':path', '*']), OURS]), RESET],
  ['a method with a space', request([...replaced([':method', 'GET /v1/other']), OURS]), RESET],
  ['a method with a line end', request([...replaced([':method', 'GET / HTTP/1.1\r\nX-A: 1\r\n\r\nGET']), OURS]), RESET],
  ['a method in small letters', request([...replaced([':method', 'get']), OURS]), refused('request_malformed')],
  ['a path with a space', request([...replaced([':path', '/v1/models HTTP/1.1']), OURS]), RESET],
  [
    'a path with a line end',
    request([...replaced([':path', '/v1/models HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/other']), OURS]),
    RESET,
  ],
  ['a path with a line feed', request([...replaced([':path', '/v1/models\nX: 1']), OURS]), RESET],
  ['a path with NUL', request([...replaced([':path', '/v1/models\0']), OURS]), RESET],
  [
    'a path with bytes beyond ASCII',
    request([...replaced([':path', '/v1/caf\u00e9']), OURS]),
    refused('target_invalid'),
  ],
  ['a path with dots', request([...replaced([':path', '/v1/../admin']), OURS]), refused('target_invalid')],
  ['a path with encoded dots', request([...replaced([':path', '/v1/%2e%2e/admin']), OURS]), refused('target_invalid')],
  ['a path with two slashes', request([...replaced([':path', '//evil.test/v1']), OURS]), refused('target_invalid')],
  ['a path with a fragment', request([...replaced([':path', '/v1/models#x']), OURS]), refused('target_invalid')],
  ['a path without a slash', request([...replaced([':path', 'v1/models']), OURS]), RESET],
  ['an address for a path', request([...replaced([':path', 'http://evil.test/v1/models']), OURS]), RESET],
  ['another scheme', request([...replaced([':scheme', 'file']), OURS]), OK],
  ['a scheme with a line end', request([...replaced([':scheme', 'http\r\nX: 1']), OURS]), RESET],
  ['an authority with a user', request([...replaced([':authority', 'user@evil.test']), OURS]), RESET],
  ['an authority with a path', request([...replaced([':authority', 'evil.test/x']), OURS]), RESET],
  ['an authority with a line end', request([...replaced([':authority', 'a\r\nX: 1']), OURS]), RESET],
  ['an authority with a space', request([...replaced([':authority', 'a b']), OURS]), RESET],
  ['a host beside the authority, the same', request([...START, ['host', 'gateway.test'], OURS]), OK],
  ['a host beside the authority, another', request([...START, ['host', 'evil.test'], OURS]), refused('host_invalid')],
  ['two hosts', request([...START, ['host', 'gateway.test'], ['host', 'evil.test'], OURS]), RESET],
  ['a name in capitals', request([...START, ['X-Evil', '1'], OURS]), RESET],
  ['a name with a space', request([...START, ['x evil', '1'], OURS]), OK],
  ['a name with a colon', request([...START, ['x:evil', '1'], OURS]), OK],
  ['a name with a line end', request([...START, ['x\r\nevil', '1'], OURS]), OK],
  ['an empty name', request([...START, ['', '1'], OURS]), OK],
  ['a value with a line end', request([...START, ['x-a', '1\r\nx-evil: 2'], OURS]), OK],
  [
    'a value with two line ends and a request',
    request([...START, ['x-a', '1\r\n\r\nGET /v1/other HTTP/1.1\r\nHost: a\r\n\r\n'], OURS]),
    OK,
  ],
  ['a value with a line feed', request([...START, ['x-a', '1\nx-evil: 2'], OURS]), OK],
  ['a value with NUL', request([...START, ['x-a', '1\0'], OURS]), OK],
  ['connection', request([...START, ['connection', 'close'], OURS]), RESET],
  ['keep-alive', request([...START, ['keep-alive', 'timeout=5'], OURS]), RESET],
  ['proxy-connection', request([...START, ['proxy-connection', 'close'], OURS]), RESET],
  ['upgrade', request([...START, ['upgrade', 'h2c'], OURS]), RESET],
  ['transfer-encoding', request([...START, ['transfer-encoding', 'chunked'], OURS]), RESET],
  ['te: trailers', request([...START, ['te', 'trailers'], OURS]), OK],
  ['te: gzip', request([...START, ['te', 'gzip'], OURS]), RESET],
  ['expect: something', request([...START, ['expect', 'something'], OURS]), refused('expectation_failed')],
  ['the key twice', request([...START, OURS, OURS]), refused('header_repeated')],
  ['no key', request(START), refused('key_missing')],
  ['the key in the cookie', request([...START, ['cookie', `x-gateway-key=${KEY}`]]), refused('key_missing')],
  [
    '250 headers',
    request([...START, OURS, ...Array.from({ length: 250 }, (_, n): Header => [`x-h${n}`, '1'])]),
    refused('headers_too_large'),
  ],
  ['http2-settings', request([...START, ['http2-settings', 'AAMAAABkAAQAAP__'], OURS]), OK],
];

const LENGTHS: readonly Row[] = [
  ['a body without a length', withBody([], 'ab', 'cd'), POSTED],
  ['its length', withBody([['content-length', '4']], 'abcd'), POSTED],
  ['a shorter length', withBody([['content-length', '3']], 'abcd'), ENDED],
  ['a longer length', withBody([['content-length', '5']], 'abcd'), RESET],
  ['length nought', withBody([['content-length', '0']], 'abcd'), ENDED],
  [
    'two lengths',
    withBody(
      [
        ['content-length', '4'],
        ['content-length', '4'],
      ],
      'abcd',
    ),
    RESET,
  ],
  [
    'two different lengths',
    withBody(
      [
        ['content-length', '4'],
        ['content-length', '5'],
      ],
      'abcd',
    ),
    RESET,
  ],
  ['a list of lengths', withBody([['content-length', '4, 4']], 'abcd'), RESET],
  ['a length with a plus', withBody([['content-length', '+4']], 'abcd'), RESET],
  ['a length in hexadecimal', withBody([['content-length', '0x4']], 'abcd'), RESET],
  ['an empty length', withBody([['content-length', '']], 'abcd'), RESET],
  ['a length beyond 64 bits', withBody([['content-length', '18446744073709551620']], 'abcd'), RESET],
  ['a length that comes with no body', request([...POST, OURS, ['content-length', '4']]), RESET],
  [
    'a body that looks like chunks',
    withBody([], '0\r\n\r\nGET /v1/other HTTP/1.1\r\nHost: a\r\n\r\n'),
    { kind: 'passed', method: 'POST', target: '/v1/echo', body: '0\r\n\r\nGET /v1/other HTTP/1.1\r\nHost: a\r\n\r\n' },
  ],
  ['a thousand empty pieces', withBody([], ...Array.from({ length: 1_000 }, () => ''), 'abcd'), POSTED],
  [
    'a body without an end',
    (key) => [frame(HEADERS, END_HEADERS, 1, block([...POST, OURS], key)), frame(DATA, 0, 1, Buffer.from('abcd'))],
    { kind: 'unfinished' },
  ],
];

const trailer = (headers: readonly Header[]) => (key: string) => [
  frame(HEADERS, END_HEADERS, 1, block([...POST, OURS], key)),
  frame(DATA, 0, 1, Buffer.from('abcd')),
  frame(HEADERS, END_HEADERS | END_STREAM, 1, block(headers, key)),
];
const TRAILERS: readonly Row[] = [
  ['a plain one is dropped', trailer([['x-trailer', 'SECRET']]), POSTED],
  ['a second key is dropped', trailer([['x-gateway-key', 'SECRET']]), POSTED],
  ['a pseudo-header', trailer([[':path', '/v1/other']]), RESET],
  ['a length', trailer([['content-length', '9']]), RESET],
  ['a coding', trailer([['transfer-encoding', 'chunked']]), RESET],
  [
    'without the end of the stream',
    (key) => [...trailer([])(key).slice(0, 2), frame(HEADERS, END_HEADERS, 1, block([['x-a', '1']], key))],
    RESET,
  ],
];

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values);
const get = (key: string): Buffer => frame(HEADERS, END_HEADERS | END_STREAM, 1, block([...START, OURS], key));
const FRAMES: readonly Row[] = [
  ['headers on stream 0', (key) => [frame(HEADERS, END_HEADERS | END_STREAM, 0, block([...START, OURS], key))], ENDED],
  [
    'headers on an even stream',
    (key) => [frame(HEADERS, END_HEADERS | END_STREAM, 2, block([...START, OURS], key))],
    ENDED,
  ],
  ['data on stream 0', () => [frame(DATA, END_STREAM, 0, Buffer.from('abcd'))], ENDED],
  ['data on a stream that was never opened', () => [frame(DATA, END_STREAM, 1, Buffer.from('abcd'))], ENDED],
  ['a reset of a stream that was never opened', () => [frame(RST_STREAM, 0, 1, bytes(0, 0, 0, 0))], ENDED],
  ['a window for a stream that was never opened', () => [frame(WINDOW_UPDATE, 0, 1, bytes(0, 0, 0, 1))], ENDED],
  ['a window of nought', () => [frame(WINDOW_UPDATE, 0, 0, bytes(0, 0, 0, 0))], ENDED],
  ['a window that overflows', () => [frame(WINDOW_UPDATE, 0, 0, bytes(0x7f, 0xff, 0xff, 0xff))], ENDED],
  ['settings on a stream', () => [frame(SETTINGS, 0, 1, Buffer.alloc(0))], ENDED],
  ['settings of five bytes', () => [frame(SETTINGS, 0, 0, Buffer.alloc(5))], ENDED],
  ['an acknowledgement with content', () => [frame(SETTINGS, 1, 0, Buffer.alloc(6))], ENDED],
  [
    'a window beyond its largest in settings',
    () => [frame(SETTINGS, 0, 0, bytes(0, 4, 0xff, 0xff, 0xff, 0xff))],
    ENDED,
  ],
  ['a frame size below its smallest in settings', () => [frame(SETTINGS, 0, 0, bytes(0, 5, 0, 0, 0, 1))], ENDED],
  ['a push that is neither on nor off', () => [frame(SETTINGS, 0, 0, bytes(0, 2, 0, 0, 0, 2))], ENDED],
  ['a ping of seven bytes', () => [frame(PING, 0, 0, Buffer.alloc(7))], ENDED],
  ['a ping on a stream', () => [frame(PING, 0, 1, Buffer.alloc(8))], ENDED],
  [
    'a push of the client',
    (key) => [get(key), frame(PUSH_PROMISE, END_HEADERS, 1, Buffer.concat([bytes(0, 0, 0, 2), block(START, key)]))],
    ENDED,
  ],
  ['a continuation of nothing', (key) => [frame(CONTINUATION, END_HEADERS, 1, block(START, key))], ENDED],
  [
    'another frame inside a block',
    (key) => [frame(HEADERS, END_STREAM, 1, block(START, key)), frame(PING, 0, 0, Buffer.alloc(8))],
    ENDED,
  ],
  [
    'a continuation on another stream',
    (key) => [
      frame(HEADERS, END_STREAM, 1, block(START, key)),
      frame(CONTINUATION, END_HEADERS, 3, block([OURS], key)),
    ],
    ENDED,
  ],
  [
    'a block in two frames',
    (key) => [
      frame(HEADERS, END_STREAM, 1, block(START, key)),
      frame(CONTINUATION, END_HEADERS, 1, block([OURS], key)),
    ],
    OK,
  ],
  [
    'ten thousand continuations',
    (key) => [
      frame(HEADERS, END_STREAM, 1, block([...START, OURS], key)),
      ...Array.from({ length: 10_000 }, () => frame(CONTINUATION, 0, 1, Buffer.alloc(0))),
    ],
    ENDED,
  ],
  [
    'continuations of 300 KB',
    (key) => [
      frame(HEADERS, END_STREAM, 1, block([...START, OURS], key)),
      ...Array.from({ length: 30 }, () => frame(CONTINUATION, 0, 1, block([['x-a', 'a'.repeat(10_000)]], key))),
      frame(CONTINUATION, END_HEADERS, 1, Buffer.alloc(0)),
    ],
    ENDED,
  ],
  [
    'padding longer than the frame',
    (key) => [
      frame(
        HEADERS,
        END_HEADERS | END_STREAM | PADDED,
        1,
        Buffer.concat([bytes(255), block([...START, OURS], key).subarray(0, 100)]),
      ),
    ],
    ENDED,
  ],
  [
    'padding, as it may be',
    (key) => [
      frame(
        HEADERS,
        END_HEADERS | END_STREAM | PADDED,
        1,
        Buffer.concat([bytes(10), block([...START, OURS], key), Buffer.alloc(10)]),
      ),
    ],
    OK,
  ],
  [
    'a stream that depends on itself',
    (key) => [
      frame(
        HEADERS,
        END_HEADERS | END_STREAM | WITH_PRIORITY,
        1,
        Buffer.concat([bytes(0, 0, 0, 1, 0), block([...START, OURS], key)]),
      ),
    ],
    ENDED,
  ],
  ['a priority of four bytes', () => [frame(PRIORITY, 0, 1, Buffer.alloc(4))], ENDED],
  [
    'a block that is cut inside a header',
    (key) => [frame(HEADERS, END_HEADERS | END_STREAM, 1, block([...START, OURS], key).subarray(0, -5))],
    ENDED,
  ],
  [
    'an index beyond the table',
    () => [frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(0xff, 0xff, 0xff, 0x7f))],
    ENDED,
  ],
  ['index nought', () => [frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(0x80))], ENDED],
  [
    'a table that is larger than allowed',
    () => [frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(0x3f, 0xff, 0xff, 0xff, 0x7f))],
    ENDED,
  ],
  [
    'a Huffman text that is none',
    () => [frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(0, 0x84, 0xff, 0xff, 0xff, 0xff, 0))],
    ENDED,
  ],
  [
    'a text of four gigabytes',
    () => [frame(HEADERS, END_HEADERS | END_STREAM, 1, bytes(0, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x0f))],
    ENDED,
  ],
  ['a frame larger than allowed', () => [frame(DATA, 0, 1, Buffer.alloc(20_000))], ENDED],
  ['a frame that says 16 MB', () => [bytes(0xff, 0xff, 0xff, DATA, 0, 0, 0, 0, 1)], ENDED],
  ['an unknown frame is passed over', (key) => [frame(0xfe, 0xff, 1, Buffer.from('abcd')), get(key)], OK],
  ['a second preface', () => [PREFACE, SETTINGS_FRAME], ENDED],
  [
    'a request of HTTP/1.1',
    (key) => [Buffer.from(`GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${key}\r\n\r\n`)],
    ENDED,
  ],
  ['data behind the end of a stream', (key) => [get(key), frame(DATA, END_STREAM, 1, Buffer.from('abcd'))], ENDED],
  ['headers behind the end of a stream', (key) => [get(key), get(key)], ENDED],
  ['a goodbye, then a request', (key) => [frame(GOAWAY, 0, 0, Buffer.alloc(8)), get(key)], ENDED],
];

const IN_ONE_PACKET: readonly string[] = [
  'length nought',
  'a push of the client',
  'data behind the end of a stream',
  'headers behind the end of a stream',
];

export const HTTP2_CASES: readonly Http2Case[] = (
  [
    ['head', HEADS],
    ['length', LENGTHS],
    ['trailers', TRAILERS],
    ['frames', FRAMES],
  ] as const
).flatMap(([group, rows]) =>
  rows.map(([name, frames, outcome]) => ({
    name: `HTTP/2, ${group}: ${name}`,
    frames,
    outcome,
    isOnePacket: IN_ONE_PACKET.includes(name),
  })),
);
