import { expect, test } from 'vitest';
import { proxyAuthorization } from './open-tunnel.ts';

test.each([
  ['http://proxy.test:3128', ''],
  ['http://me:p%40ss@proxy.test:3128', 'Proxy-Authorization: Basic bWU6cEBzcw==\r\n'],
  ['http://me:p%ss@proxy.test:3128', 'Proxy-Authorization: Basic bWU6cCVzcw==\r\n'],
])('the credentials in %s are decoded, and a lone %% is itself', (address, line) => {
  expect(proxyAuthorization(new URL(address))).toBe(line);
});
