import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { GatewayError } from '../vocabulary/errors.ts';
import { HeaderNames } from './header-names.ts';
import { validateRequest as validateWith } from './validate-request.ts';

function validateRequest(incoming: IncomingMessage) {
  return validateWith(incoming, new HeaderNames());
}

function request(
  url: string,
  headers: Record<string, string> | string[] = { Host: 'gateway' },
  method = 'POST',
): IncomingMessage {
  const message = new IncomingMessage(new Socket());
  message.url = url;
  message.method = method;
  message.httpVersion = '1.1';
  message.httpVersionMajor = 1;
  message.httpVersionMinor = 1;
  message.rawHeaders = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  return message;
}

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'request';
  } catch (error) {
    return error instanceof GatewayError ? error.code : String(error);
  }
}

test('path and query are taken as received, neither decoded nor encoded', () => {
  const valid = validateRequest(request('/model/arn%3Aaws%2Fx:1/converse?a=1&a=2&b=%20+&c'));
  expect(valid.path).toBe('/model/arn%3Aaws%2Fx:1/converse');
  expect(valid.query).toBe('a=1&a=2&b=%20+&c');
});

test('an absolute-form target that names this gateway loses its authority; of another host it is refused', () => {
  const atGateway = (url: string) => {
    const message = request(url);
    Object.defineProperties(message.socket, {
      localAddress: { value: '::ffff:10.0.0.7' },
      localPort: { value: 4141 },
    });
    return validateRequest(message);
  };
  for (const own of ['http://10.0.0.7:4141', 'HTTP://LOCALHOST:4141', 'https://10.0.0.7:4141'])
    expect(atGateway(`${own}/v1/models?x=1`)).toMatchObject({ path: '/v1/models', query: 'x=1' });
  expect(atGateway('http://10.0.0.7:4141').path).toBe('/');
  for (const other of [
    'http://evil.example/v1/models',
    'http://evil.example',
    'http://10.0.0.7/v1/models',
    'http://10.0.0.7:4142/v1/models',
    'http://127.0.0.1:4141/v1/models',
    'http://u:p@10.0.0.7:4141/v1/models',
    'http://10.0.0.7:4141.evil.example/v1/models',
    'http:///v1/models',
    'http://169.254.169.254/latest/meta-data',
  ])
    expect(() => atGateway(other), other).toThrow(expect.objectContaining({ code: 'target_elsewhere' }));
});

test.each([
  '//evil.example/v1',
  '/\\evil.example/v1',
  '/v1/%2e%2e/admin',
  '/v1/../admin',
  '/./v1',
  '/v1/.',
  '/v1/.%2e/x',
  '/v1/a#b',
  '/v1/%00',
  '/v1/\u00e9',
  'v1/models',
  '',
])('the target %j is refused', (target) => {
  expect(codeOf(() => validateRequest(request(target)))).toBe('target_invalid');
});

test('dots inside names are no dot segments', () => {
  expect(validateRequest(request('/v1/models/gpt-5.1/..a')).path).toBe('/v1/models/gpt-5.1/..a');
});

test.each([
  [['Host', 'a', 'Host', 'b'], 'host_invalid'],
  [['Host', 'a', 'Transfer-Encoding', 'gzip, chunked'], 'transfer_encoding'],
  [['Host', 'a', 'Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'], 'transfer_encoding'],
  [['Host', 'a', 'Connection', 'close, X-Gateway-Key'], 'connection_header'],
  [['Host', 'a', 'Connection', 'authorization'], 'connection_header'],
  [['Host', 'a', 'Connection', 'Upgrade', 'Upgrade', 'websocket'], 'upgrade_unsupported'],
  [['Host', 'a', 'Expect', 'something'], 'expectation_failed'],
  [Array.from({ length: 402 }, (_, index) => `h${index}`), 'headers_too_large'],
])('headers %j are refused with %s', (headers, code) => {
  expect(codeOf(() => validateRequest(request('/v1/models', headers)))).toBe(code);
});

test('an h2c offer is left unanswered, and headers that Connection names stay on this hop', () => {
  const valid = validateRequest(request('/v1/models', ['Host', 'a', 'Connection', 'Upgrade, X-Hop', 'Upgrade', 'h2c']));
  expect(valid.nominated).toEqual(['upgrade', 'x-hop']);
});

test('TRACE, CONNECT and "OPTIONS *" are refused', () => {
  expect(codeOf(() => validateRequest(request('/', undefined, 'TRACE')))).toBe('method_unsupported');
  expect(codeOf(() => validateRequest(request('*', undefined, 'OPTIONS')))).toBe('method_unsupported');
});
