import { expect, test } from 'vitest';
import { GatewayError } from '../vocabulary/errors.ts';
import { ClientNames } from './client-names.ts';
import { splitGatewayHeaders } from './gateway-headers.ts';
import { HeaderNames } from './header-names.ts';
import type { ValidRequest } from './validate-request.ts';

function split(rawHeaders: string[], nominated: string[] = [], { isBehindProxy = false, query = '' } = {}) {
  const headerNames = new HeaderNames();
  const request: ValidRequest = {
    method: 'POST',
    path: '/',
    query,
    rawHeaders,
    names: rawHeaders.filter((_, index) => index % 2 === 0).map((name) => headerNames.read(name)),
    nominated,
    contentLength: null,
    hasBody: false,
    hasQuery: false,
    expectsContinue: false,
    takesTrailers: false,
    addressToken: null,
    header: (lower) => {
      const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === lower);
      return at === -1 ? undefined : rawHeaders[at + 1];
    },
  };
  return splitGatewayHeaders(request, isBehindProxy, new ClientNames());
}

/** As node:http shows the bytes of a UTF-8 value. */
function wire(text: string): string {
  return Buffer.from(text).toString('latin1');
}

test('what goes on keeps its case, order and duplicates; this hop’s and the gateway’s headers do not go on', () => {
  const { forwarded } = split(
    [
      'Host',
      'gateway',
      'anthropic-beta',
      'a,b',
      'X-Gateway-Key',
      'tgk_x',
      'Authorization',
      'Bearer s',
      'Anthropic-Beta',
      'c',
      'Connection',
      'keep-alive, X-Hop',
      'X-Hop',
      '1',
      'TE',
      'trailers',
      'Content-Length',
      '3',
      'x-gateway-feature',
      'search',
    ],
    ['x-hop'],
  );
  expect(forwarded).toEqual(['anthropic-beta', 'a,b', 'Authorization', 'Bearer s', 'Anthropic-Beta', 'c']);
});

test('every other X-Gateway header is metadata, under its name without the prefix, as received', () => {
  const { metadata } = split(['X-Gateway-Feature', 'search', 'x-gateway-user-id', '42', 'X-Gateway-__proto__', 'x']);
  expect(metadata).toEqual([
    ['Feature', 'search'],
    ['user-id', '42'],
    ['__proto__', 'x'],
  ]);
});

test('a metadata name sent twice, in whatever case, is joined', () => {
  expect(split(['X-Gateway-Team', 'a', 'x-gateway-team', 'b']).metadata).toEqual([['Team', 'a, b']]);
});

test('values are UTF-8 when they can be, else Latin-1', () => {
  expect(split(['X-Gateway-Team', wire('Zürich 日本')]).metadata).toEqual([['Team', 'Zürich 日本']]);
  expect(split(['X-Gateway-Team', 'Z\u00fcrich']).metadata).toEqual([['Team', 'Zürich']]);
  expect(split(['X-Gateway-Span-Path', wire('ä/ö')]).spanPath).toBe('ä/ö');
});

test('metadata beyond 64 keys, 4 KiB a value or 16 KiB in all is dropped, with a flag', () => {
  const many = Array.from({ length: 70 }, (_, index) => [`X-Gateway-K${index}`, 'v']).flat();
  expect(split(many).metadata).toHaveLength(64);
  expect(split(many).flags).toEqual(['metadata_cut']);
  const long = split(['X-Gateway-A', 'x'.repeat(4097), 'X-Gateway-B', 'y'.repeat(4096)]);
  expect(long.metadata.map(([name]) => name)).toEqual(['B']);
  const heavy = split(Array.from({ length: 5 }, (_, index) => [`X-Gateway-K${index}`, 'z'.repeat(4096)]).flat());
  expect(heavy.metadata).toHaveLength(3);
});

test('a trace id over 512 bytes becomes its first 440 bytes, ~ and a hash; two long ones stay apart', () => {
  const one = split(['X-Gateway-Trace-Id', `${'t'.repeat(600)}1`]);
  const two = split(['X-Gateway-Trace-Id', `${'t'.repeat(600)}2`]);
  expect(one.traceId).toMatch(/^t{440}~[0-9a-f]{64}$/);
  expect(one.traceId).not.toBe(two.traceId);
  expect(one.flags).toEqual(['trace_id_cut']);
});

test('an empty header of the gateway’s counts as absent, each of them', () => {
  const empty = ['Key', 'Provider', 'Provider-Alias', 'Client', 'Trace-Id', 'Span-Path', 'Span-Name'];
  const headers = split(empty.flatMap((name) => [`X-Gateway-${name}`, '', `x-gateway-${name}`, ' ']));
  expect([headers.key, headers.provider, headers.providerAlias, headers.client]).toEqual([
    undefined,
    undefined,
    null,
    null,
  ]);
  expect([headers.traceId, headers.spanPath, headers.spanName]).toEqual([null, null, null]);
});

test('the call’s own credential is hidden where a run, a step or metadata was to be named', () => {
  const secret = 'sk-proj-0123456789';
  const { traceId, spanPath, spanName, metadata, forwarded } = split([
    'X-Gateway-Trace-Id',
    `run-${secret}`,
    'X-Gateway-Span-Path',
    `a/${secret}`,
    'X-Gateway-Span-Name',
    secret,
    'X-Gateway-Note',
    `key ${secret}`,
    'Authorization',
    `Bearer ${secret}`,
  ]);
  expect([traceId, spanPath, spanName, metadata]).toEqual(['run-***', 'a/***', '***', [['Note', 'key ***']]]);
  expect(forwarded).toEqual(['Authorization', `Bearer ${secret}`]);
});

test('a span name is decoded as each step of the path is, for clients that can send ASCII only', () => {
  const nameOf = (value: string) => split(['X-Gateway-Span-Name', value]).spanName;
  expect(nameOf('Pr%C3%BCfung')).toBe('Prüfung');
  expect(nameOf('a%2Fb c%25')).toBe('a/b c%');
  expect(nameOf(wire('Prüfung 50 %'))).toBe('Prüfung 50 %');
  expect(nameOf('100%zz')).toBe('100%zz');
  expect(nameOf('%FF%C3%BC')).toBe('%FFü');
  expect(nameOf('a%00b')).toBe('a%00b');
  expect(split(['X-Gateway-Span-Path', 'Pr%C3%BCfung/b']).spanPath).toBe('Pr%C3%BCfung/b');
});

test('a metadata value in the form of RFC 8187 is decoded, any other stays as it is', () => {
  const decodedOf = (value: string) => split(['X-Gateway-Team', value]).metadata[0]?.[1];
  expect(decodedOf("UTF-8''Pr%C3%BCfung")).toBe('Prüfung');
  expect(decodedOf("utf-8'de'%e2%82%ac%20rates")).toBe('€ rates');
  expect(decodedOf("UTF-8''plain")).toBe('plain');
  expect(decodedOf("UTF-8''")).toBe('');
  for (const other of [
    'Pr%C3%BCfung',
    "UTF-8''Pr%FCfung",
    "UTF-8''two words",
    "UTF-8''a%00",
    "ISO-8859-1''Pr%FCfung",
    "UTF-8'Pr%C3%BCfung",
    "x UTF-8''a",
    "it's 100% UTF-8",
  ])
    expect(decodedOf(other)).toBe(other);
});

test.each([
  [['X-Gateway-Key', 'a', 'x-gateway-key', 'b'], 'header_repeated'],
  [['X-Gateway-Provider', 'openai', 'X-Gateway-Provider', 'openai'], 'header_repeated'],
  [['X-Gateway-Provider-Alias', 'a', 'x-gateway-provider-alias', 'a'], 'header_repeated'],
  [['X-Gateway-Client', 'a', 'X-Gateway-Client', 'b'], 'header_repeated'],
  [['X-Gateway-Trace-Id', 'a', 'x-gateway-trace-id', 'b'], 'header_repeated'],
  [['X-Gateway-Span-Path', 'a', 'X-Gateway-Span-Path', 'b'], 'header_repeated'],
  [['X-Gateway-Span-Name', 'a', 'X-Gateway-Span-Name', 'b'], 'header_repeated'],
  [['X-Gateway-Provider', 'x'.repeat(257)], 'header_malformed'],
  [['X-Gateway-Provider-Alias', 'a\u00e9'], 'header_malformed'],
])('%j is refused with %s', (headers, code) => {
  expect(() => split(headers)).toThrow(
    new GatewayError(code === 'header_repeated' ? 'header_repeated' : 'header_malformed'),
  );
});

test('the calling program is X-Gateway-Client, else what the user agent says', () => {
  expect(split(['User-Agent', 'AsyncOpenAI/Python 3.57.0']).client).toBe('OpenAI/Python');
  expect(split(['User-Agent', 'curl/8', 'X-Gateway-Client', 'nightly-job']).client).toBe('nightly-job');
  expect(split([]).client).toBeNull();
});

test('what a trusted proxy has told does not go on, but for what the client itself has signed for AWS', () => {
  const told = ['X-Forwarded-For', '203.0.113.9', 'Via', '1.1 front', 'X-FORWARDED-HOST', 'g', 'Accept', '*/*'];
  const signature = (names: string) => [
    'Authorization',
    `AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/bedrock/aws4_request, SignedHeaders=${names}, Signature=0`,
  ];
  expect(split(told).forwarded).toEqual(told);
  expect(split(told, [], { isBehindProxy: true }).forwarded).toEqual(['Accept', '*/*']);
  const inHeader = [...signature('accept;host;x-forwarded-for'), ...told];
  expect(split(inHeader, [], { isBehindProxy: true }).forwarded).toEqual([...inHeader.slice(0, 4), 'Accept', '*/*']);
  const query = 'X-Amz-SignedHeaders=host%3Bvia&X-Amz-Signature=0';
  expect(split(told, [], { isBehindProxy: true, query }).forwarded).toEqual(['Via', '1.1 front', 'Accept', '*/*']);
  expect(split([...signature('host'), ...told], [], { isBehindProxy: true }).forwarded).toEqual([
    ...signature('host'),
    'Accept',
    '*/*',
  ]);
});
