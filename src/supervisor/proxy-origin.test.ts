import { expect, test } from 'vitest';
import { proxyOrigin } from './proxy-origin.ts';

test.each([
  [
    'the public address, whatever the certificate says',
    '127.0.0.1',
    'https://gate.example.com',
    ['localhost'],
    'https://gate.example.com',
  ],
  ['plain HTTP without a certificate', '0.0.0.0', null, null, 'http://127.0.0.1:4141'],
  [
    'the address it listens on, if the certificate has it',
    '10.0.0.7',
    null,
    ['localhost', '10.0.0.7'],
    'https://10.0.0.7:4141',
  ],
  ['this machine by its address', '0.0.0.0', null, ['localhost', '127.0.0.1', '::1'], 'https://127.0.0.1:4141'],
  ['this machine by its name', '::', null, ['gate.example.com', 'localhost'], 'https://localhost:4141'],
  [
    'the first host of a certificate that is for others',
    '127.0.0.1',
    null,
    ['*.example.com', 'gate.example.com'],
    'https://gate.example.com:4141',
  ],
  ['an address of IPv6', '::1', null, ['::1'], 'https://[::1]:4141'],
  [
    'what is left where it is for no host that can be named',
    '10.0.0.7',
    null,
    ['*.example.com'],
    'https://10.0.0.7:4141',
  ],
  ['this machine with TLS by a node that has no certificate itself', '0.0.0.0', null, [], 'https://127.0.0.1:4141'],
])('clients are told %s', (_what, host, publicUrl, names, origin) => {
  expect(proxyOrigin({ host, port: 4141, publicUrl, tls: names && { cert: '', key: '' } }, names ?? [])).toBe(origin);
});
