import { expect, test } from 'vitest';
import { HeaderNames } from './header-names.ts';
import { listCredentials } from './list-credentials.ts';
import type { ValidRequest } from './validate-request.ts';

function credentialsOf(rawHeaders: readonly string[], query = '', signed: readonly string[] = []): readonly string[] {
  const headerNames = new HeaderNames();
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => headerNames.read(name));
  const request: ValidRequest = {
    method: 'POST',
    path: '/',
    query,
    hasQuery: query !== '',
    rawHeaders,
    names,
    nominated: [],
    contentLength: null,
    hasBody: false,
    expectsContinue: false,
    takesTrailers: false,
    addressToken: null,
    header: () => undefined,
  };
  return listCredentials(request, signed);
}

test.each([
  [['Authorization', 'Bearer abcdefgh'], ['abcdefgh']],
  [['authorization', 'abcdefgh'], ['abcdefgh']],
  [['X-API-Key', ' abcdefgh '], ['abcdefgh']],
  [
    ['X-Goog-Api-Key', 'abcdefgh', 'api-key', 'ijklmnop'],
    ['abcdefgh', 'ijklmnop'],
  ],
  [
    ['Cookie', 'a=1; sid=abcdefgh; b=ijklmnop'],
    ['abcdefgh', 'ijklmnop'],
  ],
  [['Proxy-Authorization', 'Basic abcdefgh'], ['abcdefgh']],
  [['X-Gateway-Key', 'tgk_abcdefgh'], ['tgk_abcdefgh']],
  [['Sec-WebSocket-Protocol', 'realtime, openai-insecure-api-key.abcdefgh'], ['abcdefgh']],
  [
    [
      'Authorization',
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/x/y, SignedHeaders=host;date, Signature=0123456789abcdef',
    ],
    ['0123456789abcdef', 'AKIDEXAMPLE'],
  ],
  [['Content-Type', 'application/json', 'User-Agent', 'a-program/1.0'], []],
  [['x-api-key', 'short'], []],
])('of the headers %j the credentials are %j', (headers, expected) => {
  expect(credentialsOf(headers)).toEqual(expected);
});

test('parameters with the name of a secret are credentials, as sent and as decoded, the longest first', () => {
  expect(credentialsOf([], 'alt=sse&key=abcdefghij;X-Amz-Signature=0123456789ab&%6bey=a%2Bcdefgh')).toEqual([
    '0123456789ab',
    'abcdefghij',
    'a%2Bcdefgh',
    'a+cdefgh',
  ]);
});

test('what the gateway itself signs with is among them', () => {
  expect(credentialsOf([], '', ['Host', 'a.example', 'X-Amz-Security-Token', 'abcdefgh'])).toEqual(['abcdefgh']);
});

test('a credential with signs is looked for in the spellings that answers have for them as well', () => {
  expect(credentialsOf(['x-api-key', 'abc/defg+h=='])).toEqual([
    'abc/defg+h==',
    'abc%2Fdefg%2Bh%3D%3D',
    'abc\\/defg+h==',
    'abc/defg+h\\u003d\\u003d',
  ]);
});
