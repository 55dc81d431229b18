/** The code that reads heads: requests from their raw lines to the head that goes upstream, span paths, answers' heads. */
import fc from 'fast-check';
import {
  decodeSpanKey,
  encodeSpanKey,
  MAX_SPAN_DEPTH,
  MAX_SPAN_KEY_BYTES,
  readSpanPath,
} from '../../../src/control/log/span-path.ts';
import { isToldByProxy } from '../../../src/formats/wire/proxy-headers.ts';
import { decodeSegment } from '../../../src/providers/path-segment.ts';
import { AnswerHead, headersForClient } from '../../../src/proxy/answer-head.ts';
import { readClientSignature } from '../../../src/proxy/aws/client-signature.ts';
import type { ClientRequest } from '../../../src/proxy/client-exchange.ts';
import { ClientNames } from '../../../src/proxy/client-names.ts';
import { type GatewayHeaders, splitGatewayHeaders } from '../../../src/proxy/gateway-headers.ts';
import { HeaderNames } from '../../../src/proxy/header-names.ts';
import { readHttp2RequestHead } from '../../../src/proxy/http2/http2-request-head.ts';
import { chooseRoute } from '../../../src/proxy/route.ts';
import { UpstreamError } from '../../../src/proxy/upstream/upstream-failure.ts';
import { writeRequestHead } from '../../../src/proxy/upstream/upstream-request.ts';
import { UpstreamHosts } from '../../../src/proxy/upstream-place.ts';
import { type ValidRequest, validateRequest } from '../../../src/proxy/validate-request.ts';
import { GatewayError } from '../../../src/vocabulary/errors.ts';
import { listFixtures } from '../../support/fixtures.ts';
import { REQUEST_CASES } from '../cases/requests.ts';
import { createTarget, type FuzzTarget, must, mustEqual } from '../check.ts';

const CANARY = 'tgfuzzcanary';

const KNOWN_NAMES = [
  'X-Forwarded-For',
  'X-Forwarded-Host',
  'Forwarded',
  'Via',
  'X-Real-IP',
  'X-Gateway-Key',
  'X-Gateway-Provider',
  'X-Gateway-Provider-Alias',
  'X-Gateway-Client',
  'X-Gateway-Trace-Id',
  'X-Gateway-Span-Path',
  'X-Gateway-Span-Name',
  'X-Gateway-Feature',
  'X-Gateway-',
  'X-Gateway',
  'x_gateway_key',
  'Connection',
  'Keep-Alive',
  'Proxy-Connection',
  'Proxy-Authorization',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'HTTP2-Settings',
  'Expect',
  'Host',
  'Content-Length',
  'Content-Type',
  'Content-Encoding',
  'Cookie',
  'Authorization',
  'x-api-key',
  'x-goog-api-key',
  'anthropic-version',
  'Accept-Encoding',
  'User-Agent',
  'X-Foo',
  'X-Amz-Date',
  'amz-sdk-request',
  'x-stainless-retry-count',
  '__proto__',
  'constructor',
  ':authority',
  ':path',
];
const KNOWN_VALUES = [
  '',
  ' ',
  'close',
  'keep-alive',
  'close, X-Foo',
  'x-gateway-key',
  'authorization',
  'X-Gateway-Feature, keep-alive',
  'chunked',
  'Chunked',
  'gzip, chunked',
  '100-continue',
  'websocket',
  'h2c',
  '0',
  '5',
  '-1',
  '5, 5',
  'trailers',
  'openai',
  ' Bedrock ',
  'constructor',
  'a/b/c',
  'a%2Fb//%c3%a9/%ff/..',
  '%',
  '/',
  'caf\xc3\xa9',
  '\xff\xfe',
  '\xa0',
  'AWS4-HMAC-SHA256 Credential=A/1/eu-west-1/bedrock/aws4_request, SignedHeaders=host;x-gateway-a, Signature=0',
  'bedrock-runtime.eu-west-1.amazonaws.com',
  'api.openai.com',
  'evil.example#',
  'a\r\nX-Injected: 1',
  'a\nb',
  '\0',
];
const PATHS = [
  ...new Set(listFixtures().map(({ request }) => request.path)),
  '/',
  '*',
  '//evil.example/v1',
  '/\\evil',
  'http://evil.example/v1/models',
  '/v1/../admin',
  '/v1/%2e%2e/x',
  '/v1/v1/messages',
  '/messages',
  '/chat/completions',
  '/v1/models?key=',
  '/model/arn%3Aaws%3Abedrock/converse',
  `/v1beta/models/m:streamGenerateContent?alt=sse&key=${CANARY}&%6bey=${CANARY};token=${CANARY}`,
];

const latin1 = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)), maxLength: 40 });
const utf8 = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => Buffer.from(text).toString('latin1'));
const long = fc
  .tuple(fc.constantFrom('x', '/', 'a/', '%2F', '\xc3\xa9', '\xff'), fc.nat(9_000))
  .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)));
const cased = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(text, fc.constantFrom(0, 1, 2))
    .map(([name, way]) => (way === 0 ? name : way === 1 ? name.toLowerCase() : name.toUpperCase()));
const headerName = fc.oneof(
  { arbitrary: cased(fc.constantFrom(...KNOWN_NAMES)), weight: 8 },
  { arbitrary: fc.stringMatching(/^X-Gateway-[!#-'*+.^_`|~\w-]{0,12}$/), weight: 2 },
  { arbitrary: fc.stringMatching(/^[!#-'*+.^_`|~\w-]{1,12}$/), weight: 1 },
);
const headerValue = fc.oneof(
  { arbitrary: fc.constantFrom(...KNOWN_VALUES), weight: 5 },
  { arbitrary: latin1, weight: 2 },
  { arbitrary: utf8, weight: 2 },
  { arbitrary: long, weight: 1 },
);
/** Names a header of the same request, which then stays here, or one that nobody may take away. */
const nominating = fc
  .tuple(fc.constantFrom('X-Foo', 'x-foo', 'Cookie', 'anthropic-version', 'User-Agent', 'authorization'), headerValue)
  .map(([name, value]) => [['Connection', `close , ${name.toLowerCase()}`] as const, [name, value] as const]);
const headerList = fc.oneof(
  {
    arbitrary: fc
      .tuple(fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 }), nominating, fc.boolean())
      .map(([others, pair, isFirst]) => (isFirst ? [...pair, ...others] : [...others, ...pair.toReversed()])),
    weight: 4,
  },
  { arbitrary: fc.array(fc.tuple(headerName, headerValue), { maxLength: 12 }), weight: 10 },
  // More than any limit.
  {
    arbitrary: fc
      .tuple(fc.integer({ min: 60, max: 210 }), headerValue)
      .map(([count, value]) => Array.from({ length: count }, (_, index) => [`X-Gateway-K${index}`, value] as const)),
    weight: 1,
  },
);
const target = fc.oneof(
  { arbitrary: fc.constantFrom(...PATHS), weight: 6 },
  { arbitrary: fc.tuple(fc.constantFrom(...PATHS), latin1).map(([path, tail]) => path + tail), weight: 2 },
  { arbitrary: latin1.map((text) => `/${text}`), weight: 1 },
);

interface Request {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly httpVersionMinor: number;
}

/** The heads of the corpus that pass, as Node's parser would have read them. */
const CORPUS_HEADS: readonly Request[] = REQUEST_CASES.flatMap(({ text, outcome }) => {
  if (outcome.kind !== 'passed') return [];
  const [start = '', ...lines] = text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
  const [method = '', url = '', version = ''] = start.split(' ');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, '')];
  });
  return [{ method, url, headers, httpVersionMinor: version === 'HTTP/1.0' ? 0 : 1 }];
});

const madeUp = fc.record({
  method: fc.constantFrom('POST', 'GET', 'DELETE', 'POST', 'GET', 'OPTIONS', 'POST', 'GET', 'CONNECT', 'TRACE'),
  url: target,
  headers: headerList,
  httpVersionMinor: fc.constantFrom(0, 1, 1, 1),
});
/** A head of the corpus with headers of another kind behind its own. */
const known = fc
  .tuple(fc.constantFrom(...CORPUS_HEADS), fc.array(fc.tuple(headerName, headerValue), { maxLength: 3 }))
  .map(([head, more]): Request => ({ ...head, headers: [...head.headers, ...more] }));
const request = fc.oneof({ arbitrary: madeUp, weight: 4 }, { arbitrary: known, weight: 1 });

const NAMES = new HeaderNames();
const CLIENT_NAMES = new ClientNames();
const UPSTREAM_HOSTS = new UpstreamHosts();
const HOP =
  /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|transfer-encoding|upgrade|http2-settings|expect|host|content-length)$/;
const BUILT_IN =
  /^https:\/\/(?:api\.(?:openai|anthropic|deepseek)\.com|generativelanguage\.googleapis\.com|api\.fireworks\.ai|api\.together\.ai|[a-z-]+\.[a-z0-9-]+\.(?:amazonaws\.com(?:\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn))$/;

/** Whatever is thrown must be a refusal. */
function orRefusal<T>(step: () => T): T | null {
  try {
    return step();
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

const NOT_USED = (): never => {
  throw new Error('a head is read without its connection');
};

function toIncoming({ method, url, headers, httpVersionMinor }: Request): ClientRequest {
  return {
    method,
    url,
    httpVersionMajor: 1,
    httpVersionMinor,
    rawHeaders: headers.flat(),
    headers: {},
    complete: true,
    socket: { destroyed: false, destroy: NOT_USED, destroySoon: NOT_USED, resetAndDestroy: NOT_USED },
    on: NOT_USED,
    once: NOT_USED,
    off: NOT_USED,
    pause: NOT_USED,
    resume: NOT_USED,
    isPaused: NOT_USED,
  };
}

function checkRequest(given: Request): void {
  const accepted = orRefusal(() => validateRequest(toIncoming(given), NAMES, given.url.length % 5 === 0));
  if (accepted === null) return;
  must(accepted.rawHeaders.length <= 400, 'at most 200 headers');
  must(/^\/[\x21-\x7e]*$/.test(accepted.path) || accepted.path === '/', 'a path is printable and begins with a slash');
  must(!/[\\#]|(?:^|\/)\.{1,2}(?:\/|$)/.test(accepted.path), 'a path means one place');
  const isBehindProxy = given.url.length % 3 === 0;
  const headers = orRefusal(() => splitGatewayHeaders(accepted, isBehindProxy, CLIENT_NAMES));
  if (headers === null) return;
  checkForwarded(given, headers, accepted.nominated);
  if (isBehindProxy) checkUntold(accepted, headers);
  checkLimits(headers);
  const route = orRefusal(() => chooseRoute(accepted, headers, { upstreams: {}, aliases: {} }, UPSTREAM_HOSTS));
  if (route === null) return;
  must(BUILT_IN.test(route.origin) && !route.mayBePrivate, `an origin of the table, not ${route.origin}`);
  must(!route.loggedPath.includes(`key=${CANARY}`), 'no key in the log');
  checkSent(headers, { ...given, url: route.path, headers: [] }, route.origin);
}

function checkForwarded(given: Request, { forwarded }: GatewayHeaders, nominated: readonly string[]): void {
  let at = 0;
  for (let index = 0; index < forwarded.length; index += 2) {
    const [name = '', value = ''] = [forwarded[index], forwarded[index + 1]];
    const lower = name.toLowerCase();
    must(!lower.startsWith('x-gateway-'), `no reserved name goes on: ${name}`);
    must(!HOP.test(lower) && !nominated.includes(lower), `no header of this hop goes on: ${name}`);
    while (at < given.headers.length && (given.headers[at]?.[0] !== name || given.headers[at]?.[1] !== value)) at += 1;
    must(at < given.headers.length, 'what goes on came so, in this order');
    at += 1;
  }
  const credentials = given.headers.filter(([name]) => /^(?:authorization|x-api-key|x-goog-api-key)$/i.test(name));
  const sent = forwarded.filter(
    (name, index) => index % 2 === 0 && /^(?:authorization|x-api-key|x-goog-api-key)$/i.test(name),
  );
  must(sent.length === credentials.length, 'every credential goes on');
}

function checkUntold(accepted: ValidRequest, { forwarded }: GatewayHeaders): void {
  const signed = readClientSignature(accepted)?.signedHeaders ?? [];
  const told = forwarded.filter((name, index) => index % 2 === 0 && isToldByProxy(name.toLowerCase()));
  must(
    told.every((name) => signed.includes(name.toLowerCase())),
    'nothing that a trusted proxy has told goes on',
  );
}

function checkLimits(headers: GatewayHeaders): void {
  const { metadata, traceId, spanPath, spanName, client } = headers;
  must(metadata.length <= 64, 'metadata has at most 64 keys');
  must(
    metadata.every(([, value]) => Buffer.byteLength(value) <= 4_096),
    'a value has at most 4 KiB',
  );
  const bytes = metadata.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  must(bytes <= 16 * 1024, 'metadata has at most 16 KiB');
  must(new Set(metadata.map(([name]) => name.toLowerCase())).size === metadata.length, 'a key stands once');
  must(Buffer.byteLength(traceId ?? '') <= 512, 'a trace id has at most 512 bytes');
  must(Buffer.byteLength(spanPath ?? '') <= 8 * 1024, 'a span path has at most 8 KiB');
  must(Buffer.byteLength(spanName ?? '') <= 1_024, 'a span name has at most 1 KiB');
  must(Buffer.byteLength(client ?? '') <= 128, 'a client has at most 128 bytes');
  for (const text of [traceId, spanPath, spanName, client])
    must(text !== '' && text?.isWellFormed() !== false, 'text is text');
  if (spanPath !== null) checkSpanPath(spanPath);
}

/** The head upstream has as many lines as it was given headers: nothing of a value became a line of its own. */
function checkSent({ forwarded }: GatewayHeaders, { method, url }: Request, origin: string): void {
  let head: string;
  try {
    const whole = { origin, mayBePrivate: false, method, path: url, headers: forwarded, body: null, bodyBytes: null };
    head = writeRequestHead(whole, { targetPrefix: '', lines: 'Host: h\r\nConnection: keep-alive\r\n' });
  } catch (error) {
    if (error instanceof UpstreamError && error.code === 'REQUEST_UNSENDABLE') return;
    throw error;
  }
  const lines = head.split(/\r\n|\n|\r/);
  const own = method === 'POST' ? 4 : 3;
  must(lines.length === forwarded.length / 2 + own + 2, 'each header is one line');
  must(lines.filter((line) => /^x-injected/i.test(line)).length === 0, 'no value became a header');
}

function checkSpanPath(spanPath: string): void {
  const { names, key } = readSpanPath(spanPath);
  must(names.length <= MAX_SPAN_DEPTH && key.length <= MAX_SPAN_KEY_BYTES, 'a span path is bounded');
  must(/^[\w.~%/-]*$/.test(key), 'a key is of unreserved characters and escapes');
  must(
    names.every((name) => name !== '' && name.isWellFormed()),
    'a name is text',
  );
  mustEqual(readSpanPath(key), { names, key, isCut: false }, 'a key, and the key of that key');
  mustEqual(decodeSpanKey(key), names, 'the names in a key');
  must(encodeSpanKey(names) === key, 'names have one key');
}

const SPAN_UNITS = [
  '/',
  '//',
  '%',
  '%2F',
  '%2f',
  '%25',
  '%c3%a9',
  '%C3',
  '%a9',
  '%f0%9f',
  '%8c%8d',
  '.',
  '..',
  'a',
  'é',
  '\ud83c',
  '\udf0d',
  ' ',
  '%00',
  '%zz',
  '+',
];
const spanPath = fc.oneof(
  fc.array(fc.constantFrom(...SPAN_UNITS), { maxLength: 30 }).map((units) => units.join('')),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.tuple(fc.constantFrom(...SPAN_UNITS), fc.nat(1_500)).map(([unit, count]) => unit.repeat(count)),
);

function checkNames(text: string): void {
  checkSpanPath(text);
  must(typeof decodeSegment(text) === 'string', 'a segment of a path is decoded, or stays');
}

function checkHttp2(headers: readonly (readonly [string, string])[]): void {
  const { rawHeaders, headBytes } = readHttp2RequestHead(headers.flat(), true);
  must(rawHeaders.length % 2 === 0 && headBytes >= 0, 'names with values');
  must(
    rawHeaders.every((name, index) => index % 2 === 1 || !/^:(?:method|path|scheme|authority)$/.test(name)),
    'no pseudo header is left',
  );
}

function checkAnswer(headers: readonly (readonly [string, string])[]): void {
  const sent = headersForClient(new AnswerHead(200, headers.flat(), NAMES), 'the-id').headers;
  const names = sent.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  must(names.filter((name) => name.startsWith('x-gateway-')).join() === 'x-gateway-request-id', 'only our id');
  must(sent.at(-1) === 'the-id', 'our id is ours');
  const hop =
    /^(?:connection|keep-alive|proxy-connection|proxy-authenticate|proxy-authorization|te|trailer|transfer-encoding|upgrade)$/;
  must(!names.some((name) => hop.test(name)), 'nothing of the provider’s hop');
}

export const HEADER_TARGETS: readonly FuzzTarget[] = [
  createTarget('headers: requests', 1, request, checkRequest),
  createTarget('headers: span paths', 1, spanPath, checkNames),
  createTarget('headers: HTTP/2', 0.2, headerList, checkHttp2),
  createTarget('headers: answers', 0.2, headerList, checkAnswer),
];
