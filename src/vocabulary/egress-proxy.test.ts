import { expect, test } from 'vitest';
import { chooseProxy, readProxyAddress } from './egress-proxy.ts';

const PROXIES = { httpProxy: 'http://plain.test:3128', httpsProxy: 'https://user:pass@secure.test', noProxy: null };
const isDirect = (noProxy: string, origin: string) => chooseProxy({ ...PROXIES, noProxy }, origin) === null;

test('each scheme has its proxy, and that of HTTP serves HTTPS where there is no other', () => {
  expect(chooseProxy(PROXIES, 'http://a.test')?.href).toBe('http://plain.test:3128/');
  expect(chooseProxy(PROXIES, 'https://a.test')?.href).toBe('https://user:pass@secure.test/');
  expect(chooseProxy({ ...PROXIES, httpsProxy: null }, 'https://a.test')?.host).toBe('plain.test:3128');
  expect(chooseProxy({ ...PROXIES, httpProxy: null }, 'http://a.test')).toBeNull();
});

test.each([
  ['api.test', 'https://api.test'],
  ['API.test', 'https://eu.api.test'],
  ['.api.test', 'https://eu.api.test'],
  ['.api.test', 'https://api.test'],
  ['*.api.test', 'https://eu.api.test'],
  ['other.test, api.test', 'https://api.test'],
  ['other.test api.test', 'https://api.test.'],
  ['api.test:8443', 'https://api.test:8443'],
  ['api.test:443', 'https://api.test'],
  ['*', 'http://10.0.0.1'],
  ['10.0.0.1', 'http://10.0.0.1:8080'],
  ['10.0.0.0/8', 'http://10.9.9.9'],
  ['::1', 'http://[::1]:8080'],
  ['[::1]:8080', 'http://[::1]:8080'],
  ['fd00::/8', 'http://[fd12::9]'],
])('NO_PROXY=%s lets a call to %s go without a proxy', (noProxy, origin) =>
  expect(isDirect(noProxy, origin)).toBe(true),
);

test.each([
  ['', 'https://api.test'],
  ['.', 'https://api.test'],
  ['api.test', 'https://notapi.test'],
  ['eu.api.test', 'https://api.test'],
  ['*.api.test', 'https://api.test'],
  ['api.test:8443', 'https://api.test'],
  ['10.0.0.0/8', 'http://11.0.0.1'],
  ['10.0.0.0/99', 'http://10.0.0.1'],
  ['10.0.0.0/8', 'http://10.test'],
  ['[::1]:8080', 'http://[::1]'],
])('NO_PROXY=%s lets a call to %s go through the proxy', (noProxy, origin) =>
  expect(isDirect(noProxy, origin)).toBe(false),
);

test('a proxy is an address of HTTP, with the scheme or without', () => {
  expect(readProxyAddress('proxy.test:3128')?.href).toBe('http://proxy.test:3128/');
  expect(readProxyAddress('socks5://proxy.test:1080')).toBeNull();
  expect(readProxyAddress('http://')).toBeNull();
});
