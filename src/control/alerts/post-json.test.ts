import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { findBadAddress, postJson } from './post-json.ts';

const OUTGOING = { allowedHosts: ['hooks.internal'], egress: { httpProxy: null, httpsProxy: null, noProxy: null } };

test.each([
  'https://127.0.0.1/',
  'https://2130706433/',
  'https://0x7f.1/',
  'https://0/',
  'https://169.254.169.254/latest/meta-data',
  'https://[::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:a00:7]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://[2002:7f00:1::]/',
  'https://app.localhost/',
  'http://hooks.example.com/',
  'ftp://hooks.internal/',
  'https://user@hooks.internal/',
  'not an address',
])('%s is refused', (address) => {
  expect(findBadAddress(address, OUTGOING)).not.toBeNull();
});

test('public addresses and hosts that the operator names are taken', () => {
  expect(findBadAddress('https://hooks.example.com/a', OUTGOING)).toBeNull();
  expect(findBadAddress('https://[2606:4700::1111]/', OUTGOING)).toBeNull();
  expect(findBadAddress('http://hooks.internal:8080/', OUTGOING)).toBeNull();
});

test('a name is judged by where it leads when the connection is made', async () => {
  // Of this machine itself, which no public name server knows.
  const result = await postJson(`https://${hostname()}:1/`, '{}', {}, OUTGOING);
  expect(result).toEqual({ isSent: false, status: null, error: expect.stringMatching(/not public|not be reached/) });
});
