import { expect, test } from 'vitest';
import { HeaderNames } from './header-names.ts';
import { LastSecrets, type RequestSecrets } from './request-secrets.ts';
import type { ValidRequest } from './validate-request.ts';

const headerNames = new HeaderNames();

function requestOf(target: string, rawHeaders: readonly string[]): ValidRequest {
  const [path = '', query] = target.split('?');
  return {
    method: 'POST',
    path,
    query: query ?? '',
    hasQuery: query !== undefined,
    rawHeaders,
    names: rawHeaders.filter((_, index) => index % 2 === 0).map((name) => headerNames.read(name)),
    nominated: [],
    contentLength: null,
    hasBody: false,
    expectsContinue: false,
    takesTrailers: false,
    addressToken: null,
    header: () => undefined,
  };
}

const HEADERS = ['Host', 'a', 'Authorization', 'Bearer sk-ant-0123456789ab', 'Accept', 'b', 'X-Api-Key', 'abcdefgh'];
const TARGET = '/v1/messages?key=ijklmnop';

test.each<[string, string, readonly string[], object]>([
  ['the same headers', TARGET, [...HEADERS], {}],
  ['other headers without secrets', TARGET, ['X-Request-Id', 'c', ...HEADERS.slice(2)], {}],
  [
    'another value',
    TARGET,
    HEADERS.with(3, 'Bearer sk-proj-0123456789ab'),
    {
      credentials: ['sk-proj-0123456789ab', 'abcdefgh', 'ijklmnop'],
      owners: ['openai authorization'],
    },
  ],
  [
    'another name',
    TARGET,
    HEADERS.with(6, 'X-Goog-Api-Key'),
    { owners: ['anthropic authorization', 'gemini x-goog-api-key'] },
  ],
  [
    'a header more',
    TARGET,
    [...HEADERS, 'Cookie', 's=0123456789abcdefghijklmnop'],
    { credentials: ['0123456789abcdefghijklmnop', 'sk-ant-0123456789ab', 'abcdefgh', 'ijklmnop'] },
  ],
  [
    'a header less',
    TARGET,
    HEADERS.slice(0, 4),
    { credentials: ['sk-ant-0123456789ab', 'ijklmnop'], owners: ['anthropic authorization'] },
  ],
  [
    'an AWS signature',
    TARGET,
    HEADERS.with(3, 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/x, SignedHeaders=host;date, Signature=0123456789'),
    {
      credentials: ['AKIDEXAMPLE', '0123456789', 'abcdefgh', 'ijklmnop'],
      owners: [],
      signedHeaders: ['host', 'date'],
    },
  ],
  ['another path', '/v1/other?key=ijklmnop', HEADERS, { target: '/v1/other?key=***' }],
  [
    'another query',
    '/v1/messages?key=qrstuvwx',
    HEADERS,
    { credentials: ['sk-ant-0123456789ab', 'abcdefgh', 'qrstuvwx'] },
  ],
])('when the next request on a connection comes with %s, its secrets are its own', (_, target, headers, changed) => {
  const connection = {};
  const last = new LastSecrets();
  const describe = (secrets: RequestSecrets) => ({
    credentials: secrets.listCredentials([]),
    owners: secrets.carried.map(({ owner, header }) => `${owner} ${header}`),
    target: secrets.shownTarget,
    signedHeaders: secrets.clientSignature?.signedHeaders ?? null,
    found: secrets.listSearches([]).map((search) => search.mayStandIn('sk-ant-0123456789ab abcdefgh ijklmnop')),
  });
  const first = describe(last.read(connection, requestOf(TARGET, HEADERS)));
  expect(first).toEqual({
    credentials: ['sk-ant-0123456789ab', 'abcdefgh', 'ijklmnop'],
    owners: ['anthropic authorization'],
    target: '/v1/messages?key=***',
    signedHeaders: null,
    found: [true, true, true],
  });
  const second = describe(last.read(connection, requestOf(target, headers)));
  expect({ ...second, found: null }).toEqual({ ...first, ...changed, found: null });
});

test('the secrets of a connection’s last request are kept while they are repeated, unless they are large', () => {
  const last = new LastSecrets();
  const connection = {};
  const read = (key: string) => last.read(connection, requestOf('/v1/messages', ['X-Api-Key', key]));
  expect(read('abcdefgh')).toBe(read('abcdefgh'));
  expect(read('a'.repeat(4_000))).toBe(read('a'.repeat(4_000)));
  expect(read('a'.repeat(5_000))).not.toBe(read('a'.repeat(5_000)));
  expect(last.read({}, requestOf('/v1/messages', ['X-Api-Key', 'abcdefgh']))).not.toBe(read('abcdefgh'));
});
