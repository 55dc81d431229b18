/** Offers of other protocols, expectations, other protocols altogether, and what stands before and behind a request. */
import {
  get,
  KEY,
  MALFORMED,
  passed,
  post,
  type RequestRow,
  refused,
  rowsToCases,
  UNFINISHED,
} from './request-case.ts';

const KEY_LINE = `X-Gateway-Key: ${KEY}`;
const OK = passed({ method: 'GET', target: '/v1/models' });
/** The offer is left unanswered; what stands behind it has no answer, and the client is told that it was the last. */
const LAST = passed({ method: 'GET', target: '/v1/models', second: false });
const NO_UPGRADE = refused('upgrade_unsupported');
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const WEBSOCKET = ['Connection: Upgrade', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];

const upgrade = (...lines: readonly string[]): string => get('/v1/models', lines);
const UPGRADES: readonly RequestRow[] = [
  ['h2c', upgrade('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'), LAST],
  ['h2c without Connection', upgrade('Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'), OK],
  [
    'h2c of a POST with a body',
    post(['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA', 'Content-Length: 4'], 'abcd'),
    passed({ body: 'abcd', second: false }),
  ],
  [
    'h2c with a preface behind',
    `${upgrade('Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AA')}${PREFACE}`,
    passed({ method: 'GET', target: '/v1/models', second: false }),
  ],
  ['h2', upgrade('Connection: Upgrade', 'Upgrade: h2'), LAST],
  ['TLS/1.0', upgrade('Connection: Upgrade', 'Upgrade: TLS/1.0'), LAST],
  ['HTTP/1.1', upgrade('Connection: Upgrade', 'Upgrade: HTTP/1.1'), LAST],
  ['made up', upgrade('Connection: Upgrade', 'Upgrade: foo'), LAST],
  ['empty', upgrade('Connection: Upgrade', 'Upgrade:'), OK],
  ['Connection without Upgrade', upgrade('Connection: Upgrade'), OK],
  ['websocket on a path without one', upgrade(...WEBSOCKET, 'Upgrade: websocket'), NO_UPGRADE],
  ['websocket in capitals', upgrade(...WEBSOCKET, 'Upgrade: WebSocket'), NO_UPGRADE],
  ['websocket among others', upgrade(...WEBSOCKET, 'Upgrade: h2c, websocket'), NO_UPGRADE],
  ['websocket without Connection', upgrade('Upgrade: websocket'), NO_UPGRADE],
  [
    'websocket by POST',
    post([...WEBSOCKET, 'Upgrade: websocket', 'Content-Length: 0'], '', 'POST /v1/realtime HTTP/1.1'),
    NO_UPGRADE,
  ],
  [
    'websocket in HTTP/1.0',
    `GET /v1/realtime HTTP/1.0\r\n${KEY_LINE}\r\n${WEBSOCKET.join('\r\n')}\r\nUpgrade: websocket\r\n\r\n`,
    NO_UPGRADE,
  ],
  [
    'websocket without a key',
    `GET /v1/realtime HTTP/1.1\r\nHost: a\r\n${WEBSOCKET.join('\r\n')}\r\nUpgrade: websocket\r\n\r\n`,
    refused('key_missing'),
  ],
  [
    'websocket with a body',
    get('/v1/realtime', [...WEBSOCKET, 'Upgrade: websocket', 'Content-Length: 4']),
    refused('request_malformed'),
  ],
  [
    'websocket with chunks',
    get('/v1/realtime', [...WEBSOCKET, 'Upgrade: websocket', 'Transfer-Encoding: chunked']),
    refused('request_malformed'),
  ],
  [
    'websocket with two hosts',
    get('/v1/realtime', ['Host: b', ...WEBSOCKET, 'Upgrade: websocket']),
    refused('host_invalid'),
  ],
  [
    'websocket to a path with dots',
    get('/v1/../realtime', [...WEBSOCKET, 'Upgrade: websocket']),
    refused('target_invalid'),
  ],
];

const expects = (value: string, wire = 'abcd', line = 'POST /v1/echo HTTP/1.1'): string =>
  post([`Expect:${value}`, 'Content-Length: 4'], wire, line);
const EXPECTATIONS: readonly RequestRow[] = [
  ['100-continue', expects(' 100-continue'), passed({ body: 'abcd' })],
  ['in capitals', expects(' 100-Continue'), passed({ body: 'abcd' })],
  ['without a body', get('/v1/models', ['Expect: 100-continue']), LAST],
  [
    'without a key',
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nabcd',
    refused('key_missing'),
  ],
  ['another', expects(' 200-ok'), refused('expectation_failed')],
  ['empty', expects(''), refused('expectation_failed')],
  ['a list', expects(' 100-continue, 100-continue'), refused('expectation_failed')],
  ['with a parameter', expects(' 100-continue;x=1'), refused('expectation_failed')],
  ['with a letter behind', expects(' 100-continuex'), refused('expectation_failed')],
  [
    'two lines',
    post(['Expect: 100-continue', 'Expect: other', 'Content-Length: 4'], 'abcd'),
    refused('expectation_failed'),
  ],
  [
    'and both lengths',
    post(['Expect: 100-continue', 'Content-Length: 4', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
    MALFORMED,
  ],
  ['and a body that never comes', post(['Expect: 100-continue', 'Content-Length: 100000'], ''), UNFINISHED],
];

const PROTOCOLS: readonly RequestRow[] = [
  [
    'nothing but line ends: they are passed over',
    '\r\n\r\n\r\n',
    passed({ method: 'GET', target: '/v1/models?second', second: false }),
  ],
  ['garbage', 'garbage\r\n\r\n', MALFORMED],
  ['zeros', '\0'.repeat(64), MALFORMED],
  ['the bytes 0xFF', '\u00ff'.repeat(64), MALFORMED],
  ['TLS', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03', MALFORMED],
  ['SSH', 'SSH-2.0-OpenSSH_9.6\r\n', MALFORMED],
  ['SMTP', 'EHLO evil.test\r\nMAIL FROM:<a@b>\r\n', MALFORMED],
  ['Redis', '*1\r\n$4\r\nPING\r\n', MALFORMED],
  ['SOCKS', '\x05\x01\x00', MALFORMED],
  ['the PROXY protocol', `PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n${get('/v1/models')}`, MALFORMED],
  ['the PROXY protocol, binary', `\r\n\r\n\0\r\nQUIT\n!\x11\0\x0c${'\0'.repeat(12)}`, MALFORMED],
  ['PostgreSQL', '\0\0\0\x08\x04\xd2\x16\x2f', MALFORMED],
  ['FastCGI', '\x01\x01\0\x01\0\x08\0\0\0\x01\0\0\0\0\0\0', MALFORMED],
  ['a preface of HTTP/2 that is cut', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', MALFORMED],
  ['a preface with a header', 'PRI * HTTP/2.0\r\nHost: a\r\n\r\nSM\r\n\r\n', MALFORMED],
  ['a preface of HTTP/1.1', 'PRI * HTTP/1.1\r\nHost: a\r\n\r\n', MALFORMED],
  ['a preface of HTTP/3', 'PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n', MALFORMED],
  ['a preface behind an empty line', `\r\n${PREFACE}`, MALFORMED],
  [
    'a preface behind a request',
    `${get('/v1/models')}${PREFACE}`,
    passed({ method: 'GET', target: '/v1/models', second: false }),
  ],
  ['a preface as a body', post(['Content-Length: 24'], PREFACE), passed({ body: PREFACE })],
];

const BEHIND: readonly RequestRow[] = [
  ['an empty line behind', `${get('/v1/models')}\r\n`, OK],
  ['two empty lines behind a body', `${post(['Content-Length: 4'], 'abcd')}\r\n\r\n`, passed({ body: 'abcd' })],
  ['garbage behind', `${get('/v1/models')}garbage `, passed({ method: 'GET', target: '/v1/models', second: false })],
  ['NUL behind', `${get('/v1/models')}\0`, passed({ method: 'GET', target: '/v1/models', second: false })],
  [
    'a request in a body is a body',
    post(['Content-Length: 40'], 'GET /v1/models?inner HTTP/1.1\r\nHost: a\r\n'.padEnd(40, 'x').slice(0, 40)),
    passed({ body: 'GET /v1/models?inner HTTP/1.1\r\nHost: a\r\n'.padEnd(40, 'x').slice(0, 40) }),
  ],
  [
    'a request in a body without a length is another request',
    `POST /v1/echo HTTP/1.1\r\nHost: gateway.test\r\n${KEY_LINE}\r\n\r\n`,
    passed(),
  ],
  [
    'a request that is refused, its body behind',
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nabcd',
    refused('key_missing'),
  ],
  [
    'a request that is refused, a longer body behind',
    `POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${'x'.repeat(300_000)}`,
    refused('key_missing'),
  ],
  [
    'a request that is refused, a body of 3 MB behind',
    `POST /v1/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
    refused('key_missing'),
  ],
  [
    'a request that is refused, chunks behind',
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n',
    refused('key_missing'),
  ],
  [
    'a request that is refused, bad chunks behind',
    'POST /v1/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    refused('key_missing'),
  ],
  ['a request that is refused, none behind', 'GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n', refused('key_missing')],
];

export const UPGRADE_REQUESTS = [
  ...rowsToCases('upgrade', UPGRADES),
  ...rowsToCases('Expect', EXPECTATIONS),
  ...rowsToCases('protocol', PROTOCOLS),
  ...rowsToCases('behind', BEHIND),
];
