import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import { expect, test } from 'vitest';
import { checkSignature } from '../../../test/support/verify-signature.ts';
import { signRequest, withoutSignature } from './sign-request.ts';

const KEYS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: null,
};
const SIGNED_AT = new Date('2015-08-30T12:36:00Z');
const RUNTIME = {
  host: 'bedrock-runtime.us-east-1.amazonaws.com',
  service: 'bedrock',
  region: 'us-east-1',
  credentials: KEYS,
};

/** The value of a header in a flat list. */
function readFlat(headers: readonly string[], name: string): string | undefined {
  const index = headers.findIndex((header, at) => at % 2 === 0 && header.toLowerCase() === name);
  return index === -1 ? undefined : headers[index + 1];
}

test('the AWS documentation’s own example verifies, so the second implementation that the tests rely on is right', () => {
  // "Examples of the complete Signature Version 4 signing process", GET ListUsers; with the digest header left out there.
  const rawHeaders = [
    'Host',
    'iam.amazonaws.com',
    'Content-Type',
    'application/x-www-form-urlencoded; charset=utf-8',
    'X-Amz-Date',
    '20150830T123600Z',
    'Authorization',
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  ];
  const request = { method: 'GET', target: '/?Action=ListUsers&Version=2010-05-08', rawHeaders, body: Buffer.alloc(0) };
  expect(checkSignature(request, KEYS.secretAccessKey)).toMatchObject({ isValid: true, service: 'iam' });
});

test.each([
  ['/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse', 'an encoded colon'],
  ['/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/invoke', 'a colon as it is'],
  ['/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.x/converse', 'an encoded slash'],
  ['/model/arn:aws:bedrock:us-east-1:1:inference-profile/us.x/converse', 'a slash as it is'],
  ['/async-invoke?maxResults=2&statusEquals=Completed&b&b=2&b=1&c=%2F%20x~', 'a query'],
  ["/model/a(b)!*'%20c/converse", 'characters that URLs and AWS encode differently'],
])('%s is signed as it goes out: %s', async (path) => {
  const body = Buffer.from('{"a":1}');
  const given = { method: 'POST', path, headers: ['Content-Type', 'application/json'], body };
  const headers = await signRequest(given, RUNTIME, KEYS, SIGNED_AT);
  const arrived = { method: 'POST', target: path, rawHeaders: ['Host', RUNTIME.host, ...headers], body };
  expect(checkSignature(arrived, KEYS.secretAccessKey)).toEqual({
    isValid: true,
    accessKeyId: 'AKIDEXAMPLE',
    region: 'us-east-1',
    service: 'bedrock',
    signedHeaders: ['host', 'x-amz-content-sha256', 'x-amz-date'],
  });
});

test('the signature is the one that the AWS SDK makes for the same request', async () => {
  const body = Buffer.from('{"messages":[]}');
  const path = '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse';
  const keys = { ...KEYS, sessionToken: 'a-session-token' };
  const given = { method: 'POST', path, headers: ['x-amz-user-agent', 'aws-sdk-js/3'], body };
  const headers = await signRequest(given, RUNTIME, keys, SIGNED_AT);
  const sdk = await new SignatureV4({ ...RUNTIME, credentials: keys, sha256: Sha256 }).sign(
    {
      method: 'POST',
      protocol: 'https:',
      hostname: RUNTIME.host,
      path,
      query: {},
      body,
      headers: { host: RUNTIME.host, 'x-amz-user-agent': 'aws-sdk-js/3' },
    },
    { signingDate: SIGNED_AT },
  );
  expect(readFlat(headers, 'authorization')).toBe(sdk.headers['authorization']);
  expect(readFlat(headers, 'x-amz-security-token')).toBe('a-session-token');
});

test('what the client signed or authenticated with is left out; everything else keeps its place, case and duplicates', async () => {
  const given = [
    'Accept',
    '*/*',
    'Authorization',
    'AWS4-HMAC-SHA256 Credential=PLACEHOLDER/x',
    'X-Amz-Date',
    '20200101T000000Z',
    'X-Amz-Content-Sha256',
    'placeholder',
    'x-amz-security-token',
    'placeholder',
    'X-API-Key',
    'placeholder',
    'amz-sdk-request',
    'attempt=1; max=3',
    'X-Dup',
    '1',
    'x-dup',
    '2',
  ];
  const headers = await signRequest({ method: 'GET', path: '/', headers: given, body: null }, RUNTIME, KEYS, SIGNED_AT);
  expect(headers.slice(0, 8)).toEqual([
    'Accept',
    '*/*',
    'amz-sdk-request',
    'attempt=1; max=3',
    'X-Dup',
    '1',
    'x-dup',
    '2',
  ]);
  expect(headers.slice(8).filter((_, index) => index % 2 === 0)).toEqual([
    'x-amz-date',
    'x-amz-content-sha256',
    'authorization',
  ]);
  expect(headers.join()).not.toMatch(/placeholder/i);
});

test('of a query-signed path the parameters of the signature are taken out, the rest stays byte for byte', () => {
  const signed = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a%2Fb&X-Amz-Date=1&X-Amz-Expires=9';
  expect(withoutSignature(`/async-invoke?b=%20+&${signed}&a&X-Amz-SignedHeaders=host&X-Amz-Signature=00`)).toBe(
    '/async-invoke?b=%20+&a',
  );
  expect(withoutSignature('/x?X-Amz-Signature=00')).toBe('/x');
  expect(withoutSignature('/x?a=1&&b')).toBe('/x?a=1&&b');
});
