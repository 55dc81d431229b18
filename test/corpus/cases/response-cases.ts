/**
 * Answers of a broken or hostile provider, as literal bytes, each with what the client is to get of it. "Poison" is what
 * must never reach anybody: it is not part of any answer.
 */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { GatewayErrorCode } from '../../../src/vocabulary/errors.ts';
import type { AnswerStep } from '../../support/scripted-answer.ts';

export type ResponseOutcome =
  /** An error of the gateway's; not a byte of the provider's. */
  | { readonly kind: 'no answer'; readonly code: GatewayErrorCode }
  /** The provider's answer, whole. */
  | {
      readonly kind: 'whole';
      readonly status: number;
      readonly body: string | Buffer;
      readonly isStreamError?: true;
      readonly isShort?: true;
    }
  /** Its head and at most these bytes, and an ending that no client takes for a proper one. */
  | { readonly kind: 'cut'; readonly status: number; readonly body: string | Buffer };

export interface ResponseCase {
  readonly name: string;
  readonly method: 'GET' | 'HEAD';
  /** Asks for a chat stream, to which the gateway adds its wish for usage. */
  readonly isChat: boolean;
  readonly steps: readonly AnswerStep[];
  readonly outcome: ResponseOutcome;
  /** Null: not asked for. Else what the client gets of them, flat; over HTTP/1.0 nothing. */
  readonly trailers: readonly string[] | null;
  /** In HTTP/2 there is another one: it has no such status. */
  readonly isHttp1Only: boolean;
}

const POISON = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nPOISON';
const PROTOCOL: ResponseOutcome = { kind: 'no answer', code: 'upstream_protocol' };
const GONE: ResponseOutcome = { kind: 'no answer', code: 'upstream_unreachable' };
const SILENT: ResponseOutcome = { kind: 'no answer', code: 'upstream_timeout' };
const whole = (body: string | Buffer = 'abcd', status = 200): ResponseOutcome => ({ kind: 'whole', status, body });
/** Whole as HTTP goes, and short of the end of its own format, or none of it. */
const short = (body: string | Buffer): ResponseOutcome => ({ kind: 'whole', status: 200, body, isShort: true });
const cut = (body: string | Buffer = ''): ResponseOutcome => ({ kind: 'cut', status: 200, body });

/** The connection stays open behind it. */
const says = (...texts: readonly (string | Buffer)[]): AnswerStep[] => texts.map((write) => ({ write }));
const ends = (...texts: readonly (string | Buffer)[]): AnswerStep[] => [...says(...texts), { end: true }];
/** Waits a little: a reset overtakes what was written just before. */
const resets = (...texts: readonly (string | Buffer)[]): AnswerStep[] => [
  ...says(...texts),
  { waitMs: 20 },
  { reset: true },
];
const head = (...lines: readonly string[]): string => [...lines, '', ''].join('\r\n');
const ok = (...lines: readonly string[]): string => head('HTTP/1.1 200 OK', ...lines);
const LENGTH = 'Content-Length: 4';
const CHUNKED = 'Transfer-Encoding: chunked';
const LAST = '0\r\n\r\n';
const START = 'HTTP/1.1 200 OK';
const line = (start: string): AnswerStep[] => says(`${head(start, LENGTH)}abcd`);

type Row = readonly [name: string, steps: readonly AnswerStep[], outcome: ResponseOutcome];

const STATUS_LINES: readonly Row[] = [
  ['as it should be', line(START), whole()],
  ['without a reason', line('HTTP/1.1 200'), whole()],
  ['with an empty reason', line('HTTP/1.1 200 '), whole()],
  ['a reason beyond ASCII', line('HTTP/1.1 200 caf\u00e9'), whole()],
  ['a reason of 10 KB', line(`HTTP/1.1 200 ${'x'.repeat(10_000)}`), whole()],
  ['a reason with a tab', line('HTTP/1.1 200 a\tb'), whole()],
  ['a reason with NUL', line('HTTP/1.1 200 a\0b'), PROTOCOL],
  ['a reason with CR', line('HTTP/1.1 200 a\rSet-Cookie: b'), PROTOCOL],
  ['a reason with LF', line('HTTP/1.1 200 a\nSet-Cookie: b'), PROTOCOL],
  ['a reason with an escape', line('HTTP/1.1 200 \x1b[31m'), PROTOCOL],
  ['HTTP/1.0', ends(`${head('HTTP/1.0 200 OK', LENGTH)}abcd`), whole()],
  ['HTTP/0.9', ends('abcd'), PROTOCOL],
  ['HTTP/1.2', line('HTTP/1.2 200 OK'), PROTOCOL],
  ['HTTP/2.0', line('HTTP/2.0 200 OK'), PROTOCOL],
  ['HTTP/2', line('HTTP/2 200'), PROTOCOL],
  ['small letters', line('http/1.1 200 OK'), PROTOCOL],
  ['another protocol', line('ICY 200 OK'), PROTOCOL],
  ['two spaces', line('HTTP/1.1  200 OK'), PROTOCOL],
  ['a tab', line('HTTP/1.1\t200 OK'), PROTOCOL],
  ['a space before', line(' HTTP/1.1 200 OK'), PROTOCOL],
  ['an empty line before', says(`\r\n${ok(LENGTH)}abcd`), PROTOCOL],
  ['no status', line('HTTP/1.1 OK'), PROTOCOL],
  ['two digits', line('HTTP/1.1 20 OK'), PROTOCOL],
  ['four digits', line('HTTP/1.1 2000 OK'), PROTOCOL],
  ['letters for digits', line('HTTP/1.1 2OO OK'), PROTOCOL],
  ['a negative status', line('HTTP/1.1 -200 OK'), PROTOCOL],
  ['status 000', line('HTTP/1.1 000 OK'), PROTOCOL],
  ['status 099', line('HTTP/1.1 099 OK'), PROTOCOL],
  ['status 299', line('HTTP/1.1 299 Odd'), whole('abcd', 299)],
  ['status 499', line('HTTP/1.1 499 Gone'), whole('abcd', 499)],
  ['status 520', line('HTTP/1.1 520 Odd'), whole('abcd', 520)],
  ['status 529', line('HTTP/1.1 529 Overloaded'), whole('abcd', 529)],
  ['status 599', line('HTTP/1.1 599 X'), whole('abcd', 599)],
  ['a request', line('GET / HTTP/1.1'), PROTOCOL],
  ['LF alone', says(`HTTP/1.1 200 OK\n${LENGTH}\n\nabcd`), PROTOCOL],
  ['TLS', ends('\x15\x03\x01\0\x02\x02\x28'), PROTOCOL],
  ['a preface of HTTP/2', says('\0\0\x12\x04\0\0\0\0\0\0\x03\0\0\0\x80'), PROTOCOL],
  ['garbage', says('garbage'), PROTOCOL],
  ['NUL', says('\0\0\0\0'), PROTOCOL],
];

const NOT_OF_HTTP2: readonly Row[] = [
  ['status 600', line('HTTP/1.1 600 X'), whole('abcd', 600)],
  ['status 999', line('HTTP/1.1 999 X'), whole('abcd', 999)],
];

const HEADERS: readonly Row[] = [
  ['folded', says(`${ok('X-A: b', ' c', LENGTH)}abcd`), PROTOCOL],
  ['folded by a tab', says(`${ok('X-A: b', '\tc', LENGTH)}abcd`), PROTOCOL],
  ['a space before the first', says(`${ok(' X-A: b', LENGTH)}abcd`), PROTOCOL],
  ['a space before the colon', says(`${ok('Content-Length : 4')}abcd`), PROTOCOL],
  ['no colon', says(`${ok('X-A', LENGTH)}abcd`), PROTOCOL],
  ['no name', says(`${ok(': b', LENGTH)}abcd`), PROTOCOL],
  ['a name with a space', says(`${ok('X A: b', LENGTH)}abcd`), PROTOCOL],
  ['a name with NUL', says(`${ok('X-\0A: b', LENGTH)}abcd`), PROTOCOL],
  ['a name beyond ASCII', says(`${ok('X-\u00e9: b', LENGTH)}abcd`), PROTOCOL],
  ['a value with NUL', says(`${ok('X-A: b\0', LENGTH)}abcd`), PROTOCOL],
  ['a value with CR', says(`${ok('X-A: b\rX-C: d', LENGTH)}abcd`), PROTOCOL],
  ['a value with LF', says(`${ok('X-A: b\nX-C: d', LENGTH)}abcd`), PROTOCOL],
  ['a value with CR CR LF', says(`${ok('X-A: b\r', LENGTH)}abcd`), PROTOCOL],
  ['a value with DEL', says(`${ok('X-A: b\x7f', LENGTH)}abcd`), PROTOCOL],
  ['a value with an escape', says(`${ok('X-A: \x1b]0;x\x07', LENGTH)}abcd`), PROTOCOL],
  ['a value of the byte 0xFF', says(`${ok('X-A: \u00ff', LENGTH)}abcd`), whole()],
  ['a value of UTF-8', says(`${ok('X-A: \u00e6\u0097\u00a5', LENGTH)}abcd`), whole()],
  ['a value with encoded line ends', says(`${ok('Location: /x%0d%0aSet-Cookie:%20a', LENGTH)}abcd`), whole()],
  ['200 of them', says(`${ok(...Array.from({ length: 200 }, (_, n) => `X-H${n}: 1`), LENGTH)}abcd`), whole()],
  ['100 cookies', says(`${ok(...Array.from({ length: 100 }, (_, n) => `Set-Cookie: c${n}=1`), LENGTH)}abcd`), whole()],
  ['of 100 KB', says(`${ok(`X-A: ${'a'.repeat(100_000)}`, LENGTH)}abcd`), whole()],
  ['of 200 KB', says(`${ok(`X-A: ${'a'.repeat(200_000)}`, LENGTH)}abcd`), PROTOCOL],
  ['a bomb of 50,000', says(ok(...Array.from({ length: 50_000 }, (_, n) => `X-H${n}: 1`), LENGTH)), PROTOCOL],
  ['a bomb of 16 MB without an end', says(`HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(16 * 1024 * 1024)}`), PROTOCOL],
  ['no empty line', ends(`HTTP/1.1 200 OK\r\n${LENGTH}\r\nabcd`), GONE],
  ['no line end', ends('HTTP/1.1 200 OK'), GONE],
  ['LF alone before the body', says(`HTTP/1.1 200 OK\r\n${LENGTH}\r\n\nabcd`), PROTOCOL],
  ['a second status line', says(`${ok(START, LENGTH)}abcd`), PROTOCOL],
  ['the gateway’s own', says(`${ok('X-Gateway-Error: POISON', 'X-Gateway-Request-Id: POISON', LENGTH)}abcd`), whole()],
  [
    'of the hop',
    says(
      `${ok('Keep-Alive: timeout=POISON', 'Proxy-Authenticate: POISON', 'Trailer: POISON', 'Upgrade: POISON', LENGTH)}abcd`,
    ),
    whole(),
  ],
  ['what Connection names', says(`${ok('Connection: X-Hop', 'X-Hop: POISON', LENGTH)}abcd`), whole()],
  [
    'Connection that names a length stays without effect',
    says(`${ok('Connection: X-A', 'X-A: 1', LENGTH)}abcd`),
    whole(),
  ],
];

const length = (value: string, body = 'abcd'): AnswerStep[] => ends(`${ok(`Content-Length:${value}`)}${body}`);
const LENGTHS: readonly Row[] = [
  ['no space', length('4'), whole()],
  ['zeros before', length(' 0004'), whole()],
  ['a plus', length(' +4'), PROTOCOL],
  ['a minus', length(' -4'), PROTOCOL],
  ['hexadecimal', length(' 0x4'), PROTOCOL],
  ['an underscore', length(' 0_4'), PROTOCOL],
  ['a fraction', length(' 4.0'), PROTOCOL],
  ['a space within', length(' 4 4'), PROTOCOL],
  ['a list', length(' 4, 4'), PROTOCOL],
  ['a list of others', length(' 4, 5'), PROTOCOL],
  ['nothing', length(''), PROTOCOL],
  ['beyond 64 bits', length(' 18446744073709551620'), PROTOCOL],
  ['twice', ends(`${ok(LENGTH, LENGTH)}abcd`), PROTOCOL],
  ['twice, different', ends(`${ok(LENGTH, 'Content-Length: 5')}abcde`), PROTOCOL],
  ['beside a coding', ends(`${ok(LENGTH, CHUNKED)}${LAST}`), PROTOCOL],
  ['behind a coding', ends(`${ok(CHUNKED, LENGTH)}${LAST}`), PROTOCOL],
  ['beside a coding that is none', ends(`${ok(LENGTH, 'Transfer-Encoding: identity')}abcd`), PROTOCOL],
  ['with an underscore in its name is another header', ends(`${ok('Content_Length: 9', LENGTH)}abcd`), whole()],
  ['longer than what comes', ends(`${ok('Content-Length: 9')}abcd`), cut('abcd')],
  ['longer than what comes before a reset', resets(`${ok('Content-Length: 9')}abcd`), cut('abcd')],
  ['longer than what comes before a silence', says(`${ok('Content-Length: 9')}abcd`), cut('abcd')],
  ['and nothing comes', ends(ok(LENGTH)), cut()],
  ['shorter than what comes', says(`${ok(LENGTH)}abcdPOISON`), whole()],
  ['nought, and something comes', says(`${ok('Content-Length: 0')}POISON`), whole('')],
  ['of a petabyte', ends(`${ok('Content-Length: 999999999999999')}abcd`), cut('abcd')],
];

const coding = (value: string): AnswerStep[] => ends(`${ok(`Transfer-Encoding:${value}`)}4\r\nabcd\r\n${LAST}`);
const CODINGS: readonly Row[] = [
  ['chunked', coding(' chunked'), whole()],
  ['in capitals', coding(' CHUNKED'), whole()],
  ['gzip', coding(' gzip'), PROTOCOL],
  ['gzip and chunked', coding(' gzip, chunked'), PROTOCOL],
  ['chunked twice', coding(' chunked, chunked'), PROTOCOL],
  ['chunked in two lines', ends(`${ok(CHUNKED, CHUNKED)}${LAST}`), PROTOCOL],
  ['identity', coding(' identity'), PROTOCOL],
  ['with a parameter', coding(' chunked;q=1'), PROTOCOL],
  ['with a letter before', coding(' xchunked'), PROTOCOL],
  ['with a vertical tab', coding(' \x0bchunked'), PROTOCOL],
  ['empty', coding(''), PROTOCOL],
  ['in HTTP/1.0', ends(`${head('HTTP/1.0 200 OK', CHUNKED)}4\r\nabcd\r\n${LAST}`), PROTOCOL],
  ['with a space before its colon', ends(`${ok('Transfer-Encoding : chunked')}${LAST}`), PROTOCOL],
];

const chunks = (wire: string): AnswerStep[] => ends(ok(CHUNKED) + wire);
const trailers = (...lines: readonly string[]): AnswerStep[] => chunks(`4\r\nabcd\r\n0\r\n${head(...lines)}`);
const announced = (lines: string): AnswerStep[] =>
  ends(`${ok(CHUNKED, 'Trailer: POISON')}4\r\nabcd\r\n0\r\n${lines}\r\n`);
const CHUNKS: readonly Row[] = [
  ['two of them', chunks(`2\r\nab\r\n2\r\ncd\r\n${LAST}`), whole()],
  ['with an extension', chunks(`4;a=b\r\nabcd\r\n${LAST}`), whole()],
  ['with a trailer', chunks('4\r\nabcd\r\n0\r\nX-T: POISON\r\n\r\n'), whole()],
  ['with one that is announced', announced('X-T: POISON\r\n'), whole()],
  ['0x', chunks(`4\r\nabcd\r\n0x4\r\nefgh\r\n${LAST}`), cut('abcd')],
  ['0_4', chunks(`4\r\nabcd\r\n0_4\r\nefgh\r\n${LAST}`), cut('abcd')],
  ['a plus', chunks(`4\r\nabcd\r\n+4\r\nefgh\r\n${LAST}`), cut('abcd')],
  ['a minus', chunks('4\r\nabcd\r\n-0\r\n\r\n'), cut('abcd')],
  ['a space behind the size', chunks(`4\r\nabcd\r\n4 \r\nefgh\r\n${LAST}`), cut('abcd')],
  ['no size', chunks(`4\r\nabcd\r\n\r\nefgh\r\n${LAST}`), cut('abcd')],
  ['a size that wraps', chunks(`10000000000000004\r\nabcd\r\n${LAST}`), cut()],
  ['LF behind the size', chunks(`4\r\nabcd\r\n4\nefgh\r\n${LAST}`), cut('abcd')],
  ['LF behind the data', chunks(`4\r\nabcd\n${LAST}`), cut('abcd')],
  ['CR behind the data', chunks(`4\r\nabcd\r${LAST}`), cut('abcd')],
  ['nothing behind the data', chunks(`4\r\nabcd${LAST}`), cut('abcd')],
  ['more than the size', chunks(`4\r\nabcdef\r\n${LAST}`), cut('abcd')],
  ['less than the size', chunks(`8\r\nabcd\r\n${LAST}`), cut(`abcd\r\n0\r`)],
  ['LF at the end', chunks('4\r\nabcd\r\n0\n\n'), cut('abcd')],
  ['an extension of 20 KB', chunks(`4;${'x'.repeat(20_000)}\r\nabcd\r\n${LAST}`), cut()],
  [
    'extensions of 20 KB together',
    chunks(`${`1;${'x'.repeat(1_000)}\r\na\r\n`.repeat(20)}${LAST}`),
    cut('a'.repeat(20)),
  ],
  ['trailers of 200 KB', chunks(`4\r\nabcd\r\n0\r\nX-T: ${'x'.repeat(200_000)}\r\n\r\n`), cut('abcd')],
  ['a trailer with NUL', chunks('4\r\nabcd\r\n0\r\nX-T: \0\r\n\r\n'), cut('abcd')],
  ['no last one, then the end', chunks('4\r\nabcd\r\n'), cut('abcd')],
  ['no last one, then a reset', resets(`${ok(CHUNKED)}4\r\nabcd\r\n`), cut('abcd')],
  ['no last one, then silence', says(`${ok(CHUNKED)}4\r\nabcd\r\n`), cut('abcd')],
  ['the last one without its empty line', chunks('4\r\nabcd\r\n0\r\n'), cut('abcd')],
  ['another answer inside', chunks(`4\r\nabcd\r\n${POISON}`), cut('abcd')],
  ['cut inside the size', chunks('4\r\nabcd\r\n4'), cut('abcd')],
  ['cut inside the data', chunks('8\r\nabcd'), cut('abcd')],
];

/** To a client that takes them; each list is what it gets. */
const TRAILERS: readonly (readonly [name: string, steps: readonly AnswerStep[], got: readonly string[]])[] = [
  ['none', chunks(`4\r\nabcd\r\n${LAST}`), []],
  ['one', trailers('x-t: 1'), ['x-t', '1']],
  ['twice', trailers('x-t: 1', 'x-t: 2'), ['x-t', '1', 'x-t', '2']],
  ['an empty one, and blanks around', trailers('x-t:', 'x-u: \t 1 \t'), ['x-t', '', 'x-u', '1']],
  ['the byte 0xFF', trailers('x-t: \u00ff'), ['x-t', '\u00ff']],
  ['with encoded line ends', trailers('x-t: %0d%0aset-cookie: a'), ['x-t', '%0d%0aset-cookie: a']],
  ['200 of them', trailers(...Array.from({ length: 200 }, (_, n) => `x-t${n}: 1`)), twoHundred()],
  ['of 100 KB', trailers(`x-t: ${'a'.repeat(100_000)}`), ['x-t', 'a'.repeat(100_000)]],
  ['a length', trailers('Content-Length: POISON', 'x-t: 1'), ['x-t', '1']],
  ['a coding', trailers('Transfer-Encoding: POISON', 'x-t: 1'), ['x-t', '1']],
  ['of the hop', trailers('Connection: POISON', 'Keep-Alive: POISON', 'TE: POISON', 'Upgrade: POISON'), []],
  ['more trailers', trailers('Trailer: POISON', 'x-t: 1'), ['x-t', '1']],
  ['credentials and cookies', trailers('Authorization: POISON', 'Set-Cookie: POISON', 'Proxy-Status: POISON'), []],
  ['what the content is', trailers('Content-Type: POISON', 'Content-Encoding: POISON', 'Location: POISON'), []],
  ['the gateway’s own', trailers('X-Gateway-Request-Id: POISON', 'x-gateway-error: POISON', 'x-t: 1'), ['x-t', '1']],
  ['a name of every object’s', trailers('__proto__: 1', 'constructor: 2'), ['__proto__', '1', 'constructor', '2']],
  ['what Connection names', ends(`${ok(CHUNKED, 'Connection: X-Hop')}4\r\nabcd\r\n0\r\nX-Hop: POISON\r\n\r\n`), []],
  ['and another answer behind', says(`${ok(CHUNKED)}4\r\nabcd\r\n0\r\nx-t: 1\r\n\r\n${POISON}`), ['x-t', '1']],
];

function twoHundred(): readonly string[] {
  return Array.from({ length: 200 }, (_, n) => [`x-t${n}`, '1']).flat();
}

const BROKEN_TRAILERS: readonly Row[] = [
  ['with a bare LF', trailers('X-T: POISON\nX-U: POISON'), cut('abcd')],
  ['with a bare CR', trailers('X-T: POISON\rX-U: POISON'), cut('abcd')],
  ['with NUL', trailers('X-T: POISON\0'), cut('abcd')],
  ['with an escape', trailers('X-T: POISON\x1b[31m'), cut('abcd')],
  ['folded', trailers('X-T: POISON', ' POISON'), cut('abcd')],
  ['that begin with a space', trailers(' X-T: POISON'), cut('abcd')],
  ['with a space before the colon', trailers('X-T : POISON'), cut('abcd')],
  ['without a colon', trailers('X-T'), cut('abcd')],
  ['without a name', trailers(': POISON'), cut('abcd')],
  ['with a name beyond ASCII', trailers('X-\u00ff: POISON'), cut('abcd')],
  ['that are another answer', trailers(START, 'X-T: POISON'), cut('abcd')],
  ['of 200 KB', trailers(`X-T: ${'x'.repeat(200_000)}`), cut('abcd')],
  ['without an end', ends(`${ok(CHUNKED)}4\r\nabcd\r\n0\r\nX-T: POISON\r\n`), cut('abcd')],
  ['before a reset', resets(`${ok(CHUNKED)}4\r\nabcd\r\n0\r\nX-T: POISON\r\n`), cut('abcd')],
  ['before a silence', says(`${ok(CHUNKED)}4\r\nabcd\r\n0\r\nX-T: POISON\r\n`), cut('abcd')],
];

const INTERIM: readonly Row[] = [
  ['100', says(head('HTTP/1.1 100 Continue'), `${ok(LENGTH)}abcd`), whole()],
  ['102', says(head('HTTP/1.1 102 Processing'), `${ok(LENGTH)}abcd`), whole()],
  ['103 twice', says(head('HTTP/1.1 103 Early Hints', 'Link: </POISON>').repeat(2), `${ok(LENGTH)}abcd`), whole()],
  ['199', says(head('HTTP/1.1 199 Odd'), `${ok(LENGTH)}abcd`), whole()],
  ['with a length', says(`${head('HTTP/1.1 103 Early Hints', 'Content-Length: 9')}${ok(LENGTH)}abcd`), whole()],
  ['with a body', says(`${head('HTTP/1.1 103 Early Hints', LENGTH)}evil${ok(LENGTH)}abcd`), PROTOCOL],
  ['a thousand', says(head('HTTP/1.1 103 Early Hints').repeat(1_000), `${ok(LENGTH)}abcd`), whole()],
  ['a flood of 10,000', says(head('HTTP/1.1 103 Early Hints').repeat(10_000)), PROTOCOL],
  ['and nothing else', ends(head('HTTP/1.1 100 Continue')), GONE],
  ['and silence', says(head('HTTP/1.1 103 Early Hints')), SILENT],
  [
    '101, which nobody asked for',
    says(`${head('HTTP/1.1 101 Switching Protocols', 'Upgrade: websocket', 'Connection: Upgrade')}POISON`),
    PROTOCOL,
  ],
  ['101 to h2c', says(head('HTTP/1.1 101 Switching Protocols', 'Upgrade: h2c', 'Connection: Upgrade')), PROTOCOL],
  ['101 behind 100', says(head('HTTP/1.1 100 Continue'), head('HTTP/1.1 101 Switching Protocols')), PROTOCOL],
  ['malformed', says(head('HTTP/1.1 103 Early Hints', 'X A: b')), PROTOCOL],
];

const ENDINGS: readonly Row[] = [
  ['with the connection', ends(`${ok()}abcd`), whole()],
  ['with the connection, by a reset', resets(`${ok()}abcd`), cut('abcd')],
  ['with a connection that goes silent', says(`${ok()}abcd`), cut('abcd')],
  ['before anything', ends(), GONE],
  ['before anything, by a reset', [{ reset: true }], GONE],
  ['in silence', says(), SILENT],
  ['inside the head', ends('HTTP/1.1 200 OK\r\nX-A'), GONE],
  ['inside the head, by a reset', resets('HTTP/1.1 200 OK\r\nX-A'), GONE],
  ['inside the head, in silence', says('HTTP/1.1 200 OK\r\nX-A'), SILENT],
  ['behind the head', ends(ok(CHUNKED)), cut()],
  ['204 without a body', says(head('HTTP/1.1 204 No Content')), whole('', 204)],
  ['204 with a body', says(`${head('HTTP/1.1 204 No Content')}POISON`), whole('', 204)],
  ['304 with a length and no body', says(head('HTTP/1.1 304 Not Modified', 'Content-Length: 9')), whole('', 304)],
  ['304 with a body', says(`${head('HTTP/1.1 304 Not Modified', LENGTH)}POISON`), whole('', 304)],
  ['205 with length nought', says(head('HTTP/1.1 205 Reset Content', 'Content-Length: 0')), whole('', 205)],
  [
    'a redirect to another host is not followed',
    says(head('HTTP/1.1 303 See Other', 'Location: http://127.0.0.1:1/', 'Content-Length: 0')),
    whole('', 303),
  ],
  [
    'a redirect on the same host is not followed',
    says(head('HTTP/1.1 307 Temporary Redirect', 'Location: /elsewhere', 'Content-Length: 0')),
    whole('', 307),
  ],
  [
    'a redirect to a file is not followed',
    says(head('HTTP/1.1 302 Found', 'Location: file:///etc/passwd', 'Content-Length: 0')),
    whole('', 302),
  ],
];

const BEHIND: readonly Row[] = [
  ['a second answer in the same packet', says(`${ok(LENGTH)}abcd${POISON}`), whole()],
  ['a second answer a little later', [...says(`${ok(LENGTH)}abcd`), { waitMs: 10 }, { write: POISON }], whole()],
  ['a second answer behind chunks', says(`${ok(CHUNKED)}4\r\nabcd\r\n${LAST}${POISON}`), whole()],
  ['a second answer behind 204', says(head('HTTP/1.1 204 No Content') + POISON), whole('', 204)],
  ['a second answer behind 304', says(head('HTTP/1.1 304 Not Modified') + POISON), whole('', 304)],
  ['a hundred answers', says(`${ok(LENGTH)}abcd${POISON.repeat(100)}`), whole()],
  ['an interim answer', says(`${ok(LENGTH)}abcd${head('HTTP/1.1 100 Continue')}`), whole()],
  ['a line end', says(`${ok(LENGTH)}abcd\r\n`), whole()],
  ['NUL', says(`${ok(LENGTH)}abcd\0`), whole()],
  [
    'the end of the connection, and a promise to keep it',
    ends(`${ok(LENGTH, 'Connection: keep-alive', 'Keep-Alive: timeout=600')}abcd`),
    whole(),
  ],
  ['half an answer', says(`${ok(LENGTH)}abcdHTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nPOISON`), whole()],
  ['a reset', resets(`${ok(LENGTH)}abcd`), whole()],
];

const JSON_TYPE = 'Content-Type: application/json';
const PLAIN = Buffer.from('{"id":"x","usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}');
const encoded = (encoding: string, bytes: Buffer, type = JSON_TYPE): Row[1] =>
  says(ok(type, `Content-Encoding: ${encoding}`, `Content-Length: ${bytes.length}`), bytes);
const row = (name: string, encoding: string, bytes: Buffer): Row => [name, encoded(encoding, bytes), whole(bytes)];
/** What comes out of it is no JSON. */
const shortRow = (name: string, encoding: string, bytes: Buffer): Row => [name, encoded(encoding, bytes), short(bytes)];
const BOMB = gzipSync(Buffer.alloc(128 * 1024 * 1024), { level: 9 });
const ENCODINGS: readonly Row[] = [
  row('gzip', 'gzip', gzipSync(PLAIN)),
  shortRow('gzip that is not', 'gzip', PLAIN),
  shortRow('plain that is gzip', 'identity', gzipSync(PLAIN)),
  shortRow('gzip that is cut', 'gzip', gzipSync(PLAIN).subarray(0, 30)),
  shortRow('gzip with a wrong checksum', 'gzip', Buffer.concat([gzipSync(PLAIN).subarray(0, -8), Buffer.alloc(8)])),
  shortRow('gzip with something behind', 'gzip', Buffer.concat([gzipSync(PLAIN), Buffer.from('behind')])),
  shortRow('gzip twice, said once', 'gzip', gzipSync(gzipSync(PLAIN))),
  row('a chain of five', 'gzip, gzip, gzip, gzip, gzip', gzipSync(PLAIN)),
  row('a chain of a thousand', Array.from({ length: 1_000 }, () => 'gzip').join(', '), gzipSync(PLAIN)),
  shortRow('br that is not', 'br', PLAIN),
  row('br', 'br', brotliCompressSync(PLAIN)),
  row('deflate', 'deflate', deflateSync(PLAIN)),
  row('zstd', 'zstd', zstdCompressSync(PLAIN)),
  shortRow('zstd that is gzip', 'zstd', gzipSync(PLAIN)),
  row('an unknown one', 'lies', PLAIN),
  row('a bomb of 128 MiB', 'gzip', BOMB),
];

const SSE = 'Content-Type: text/event-stream';
const stream = (text: string): AnswerStep[] =>
  ends(ok(SSE, CHUNKED), `${text.length.toString(16)}\r\n${text}\r\n`, LAST);
const EVENT = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n';
const CHATS: readonly Row[] = [
  ['as it should be', stream(`${EVENT}data: [DONE]\n\n`), whole(`${EVENT}data: [DONE]\n\n`)],
  ['no JSON', stream('data: {{{\n\ndata: [DONE]\n\n'), whole('data: {{{\n\ndata: [DONE]\n\n')],
  ['NUL and 0xFF', stream('data: \0\u00ff\n\n'), short('data: \0\u00ff\n\n')],
  [
    'numbers out of all bounds',
    stream('data: {"choices":[{}],"id":1e400,"created":-5}\n\n'),
    short('data: {"choices":[{}],"id":1e400,"created":-5}\n\n'),
  ],
  [
    '__proto__',
    stream('data: {"__proto__":{"polluted":1},"choices":[{"__proto__":{"polluted":1}}]}\n\n'),
    short('data: {"__proto__":{"polluted":1},"choices":[{"__proto__":{"polluted":1}}]}\n\n'),
  ],
  ['ten thousand brackets', stream(`data: ${'['.repeat(10_000)}\n\n`), short(`data: ${'['.repeat(10_000)}\n\n`)],
  [
    'a line of a megabyte without an end',
    stream(`data: ${'x'.repeat(1024 * 1024)}`),
    whole(`data: ${'x'.repeat(1024 * 1024)}`),
  ],
  ['cut inside an event', ends(ok(SSE, CHUNKED), `20\r\n${EVENT.slice(0, 32)}\r\n`), cut(EVENT.slice(0, 32))],
  [
    'an error event',
    stream('data: {"error":{"message":"no","type":"server_error"}}\n\n'),
    {
      kind: 'whole',
      status: 200,
      body: 'data: {"error":{"message":"no","type":"server_error"}}\n\n',
      isStreamError: true,
    },
  ],
];

function toCases(group: string, rows: readonly Row[], more: Partial<ResponseCase> = {}): ResponseCase[] {
  return rows.map(([name, steps, outcome]) => ({
    name: `${group}: ${name}`,
    method: 'GET',
    isChat: false,
    trailers: null,
    isHttp1Only: false,
    steps,
    outcome,
    ...more,
  }));
}

const HEADS: readonly Row[] = [
  ['a length', says(ok(LENGTH)), whole('')],
  ['a body all the same', says(`${ok(LENGTH)}POISON`), whole('')],
  ['chunks all the same', says(`${ok(CHUNKED)}6\r\nPOISON\r\n${LAST}`), whole('')],
];

export const RESPONSE_CASES: readonly ResponseCase[] = [
  ...toCases('status line', STATUS_LINES),
  ...toCases('status line', NOT_OF_HTTP2, { isHttp1Only: true }),
  ...toCases('headers', HEADERS),
  ...toCases('length', LENGTHS),
  ...toCases('coding', CODINGS),
  ...toCases('chunks', CHUNKS),
  ...TRAILERS.flatMap(([name, steps, got]) => toCases('trailers', [[name, steps, whole()]], { trailers: got })),
  ...toCases('trailers', BROKEN_TRAILERS, { trailers: [] }),
  ...toCases('interim', INTERIM),
  ...toCases('ending', ENDINGS),
  ...toCases('behind', BEHIND),
  ...toCases('encoding', ENCODINGS),
  ...toCases('stream', CHATS, { isChat: true }),
  ...toCases('HEAD', HEADS, { method: 'HEAD' }),
];
