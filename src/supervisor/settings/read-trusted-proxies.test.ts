import { expect, test } from 'vitest';
import { createTrustedPeers } from '../../sockets/trusted-peers.ts';
import { readConfig } from './read-config.ts';
import { MAX_TRUSTED_RANGES, readTrustedProxies } from './read-trusted-proxies.ts';

const read = (value: string) => readTrustedProxies({ name: 'TOLLGATE_TRUSTED_PROXIES', value });

test('nobody is trusted unless it is said', () => {
  expect(readConfig({}, {}).trustedProxies).toEqual([]);
  expect(createTrustedPeers([])).toBeNull();
});

test('addresses, ranges and words become ranges', () => {
  expect(
    readConfig({}, { TOLLGATE_TRUSTED_PROXIES: '10.0.0.7, fd00::/8,Loopback, 10.0.0.7/32' }).trustedProxies,
  ).toEqual(['10.0.0.7/32', 'fd00::/8', '127.0.0.0/8', '::1/128']);
  expect(readConfig({ trustedProxies: 'private' }, { TOLLGATE_TRUSTED_PROXIES: 'loopback' }).trustedProxies).toEqual([
    '10.0.0.0/8',
    '172.16.0.0/12',
    '192.168.0.0/16',
    'fc00::/7',
  ]);
});

test('who is in a range is trusted, IPv4 inside IPv6 too, and nobody else', () => {
  const peers = createTrustedPeers(read('loopback, 192.0.2.64/26, 2001:db8:1::/48, ::ffff:198.51.100.0/120'));
  const inside = ['127.0.0.1', '127.9.9.9', '::1', '192.0.2.64', '192.0.2.127', '2001:db8:1:ffff::1', '198.51.100.7'];
  expect(inside.filter((address) => peers?.has(address))).toEqual(inside);
  const outside = ['128.0.0.1', '::2', '192.0.2.63', '192.0.2.128', '2001:db8:2::1', '10.0.0.1', '198.51.101.1'];
  expect(outside.filter((address) => peers?.has(address))).toEqual([]);
});

test.each(['10.0.0', '10.0.0.0/33', 'fd00::/129', 'proxy.internal', '10.0.0.1/', '10.0.0.1/8/9', 'fe80::1%eth0', '*'])(
  '%s is refused in one line',
  (item) => {
    expect(() => read(`loopback, ${item}`)).toThrow(
      `TOLLGATE_TRUSTED_PROXIES: ${JSON.stringify(`loopback, ${item}`)} is not allowed; it must be a list, with commas, of addresses (10.0.0.7), ranges (10.0.0.0/8, fd00::/8), "loopback" and "private"`,
    );
  },
);

test('to trust everybody would be to believe everybody', () => {
  for (const all of ['0.0.0.0/0', '::/0'])
    expect(() => read(all)).toThrow(
      `TOLLGATE_TRUSTED_PROXIES: ${all} is every address there is: any client could then say that it is another. Name the addresses of your proxies`,
    );
});

test.each([
  ['0.0.0.0/1,128.0.0.0/1', 'IPv4'],
  ['10.0.0.0/8,0.0.0.0/1,128.0.0.0/2,192.0.0.0/2,192.168.0.1', 'IPv4'],
  ['::ffff:0:0/97, 128.0.0.0/1', 'IPv4'],
  ['::/1, 8000::/1', 'IPv6'],
])('nor in parts: %s', (all, name) =>
  expect(() => read(all)).toThrow(
    `TOLLGATE_TRUSTED_PROXIES: together the ranges are every ${name} address there is: any client could then say that it is another. Name the addresses of your proxies`,
  ),
);

test('many ranges, some inside others, are not every address', () => {
  expect(read('0.0.0.0/1, 0.0.0.0/2, 64.0.0.0/2, ::/1')).toEqual(['0.0.0.0/1', '0.0.0.0/2', '64.0.0.0/2', '::/1']);
});

test('the list has a bound', () => {
  const list = Array.from({ length: MAX_TRUSTED_RANGES + 1 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  expect(read(list.slice(1).join())).toHaveLength(MAX_TRUSTED_RANGES);
  expect(() => read(list.join())).toThrow('TOLLGATE_TRUSTED_PROXIES: at most 256 ranges are taken, and it has 257');
});
