import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTrustedProxies } from '../supervisor/settings/read-trusted-proxies.ts';
import { readIpAddress } from './ip-address.ts';
import { followForwardedFor, MAX_TRUSTED_HOPS, readCaller, saysTls } from './read-caller.ts';
import { createTrustedPeers } from './trusted-peers.ts';

const PEER = '10.0.0.2';

function trust(value: string) {
  const peers = createTrustedPeers(readTrustedProxies({ name: 'TOLLGATE_TRUSTED_PROXIES', value }));
  if (peers === null) throw new Error('nobody is trusted');
  return peers;
}

function callerOf(remoteAddress: string | undefined, headers: readonly string[], trusted = '10.0.0.0/8') {
  return readCaller({ rawHeaders: headers, socket: { remoteAddress } }, trust(trusted));
}

test.each([
  ['nothing', [], PEER],
  ['one entry', ['203.0.113.9'], '203.0.113.9'],
  ['what a client has invented before it', ['198.51.100.1, 203.0.113.9'], '203.0.113.9'],
  ['entries of proxies behind one another', ['198.51.100.1, 203.0.113.9,10.0.0.9 ,\t10.1.2.3'], '203.0.113.9'],
  ['several lines, the last one last', ['198.51.100.1', '203.0.113.9, 10.0.0.9', '10.0.0.8'], '203.0.113.9'],
  ['only trusted addresses', ['10.0.0.7, 10.0.0.8'], '10.0.0.7'],
  ['IPv6', ['2001:DB8:0:0::9'], '2001:db8::9'],
  ['IPv6 in brackets with a port', ['[2001:db8::9]:443'], '2001:db8::9'],
  ['IPv6 in brackets', ['[2001:db8::9]'], '2001:db8::9'],
  ['IPv4 with a port', ['203.0.113.9:51234'], '203.0.113.9'],
  ['IPv4 inside IPv6', ['203.0.113.9, ::ffff:10.0.0.9, ::FFFF:0a00:0007'], '203.0.113.9'],
  ['a zone', ['fe80::1%eth0'], 'fe80::1'],
  ['unknown', ['203.0.113.9, unknown'], PEER],
  ['unknown behind a proxy', ['203.0.113.9, unknown, 10.0.0.9'], '10.0.0.9'],
  ['a name', ['203.0.113.9, client.example'], PEER],
  ['an empty entry', ['203.0.113.9,'], PEER],
  ['an empty line', ['203.0.113.9', ''], PEER],
  ['commas', [',,,'], PEER],
  ['quotes', ['"203.0.113.9"'], PEER],
  ['a number that is no address', ['203.0.113.009'], PEER],
  ['a port that is none', ['203.0.113.9:x'], PEER],
])('from a trusted peer, X-Forwarded-For with %s', (_, lines, client) => {
  const headers = lines.flatMap((line) => ['X-Forwarded-For', line]);
  expect(callerOf(PEER, headers)).toEqual({ address: client, isBehindProxy: true });
});

test('from anybody else the header says nothing', () => {
  const headers = ['X-Forwarded-For', '198.51.100.1', 'X-Real-IP', '198.51.100.2', 'Forwarded', 'for=198.51.100.3'];
  expect(callerOf('203.0.113.9', headers)).toEqual({ address: '203.0.113.9', isBehindProxy: false });
  expect(callerOf('::ffff:203.0.113.9', headers)).toEqual({ address: '203.0.113.9', isBehindProxy: false });
  expect(callerOf('fe80::2%eth0', headers)).toEqual({ address: 'fe80::2', isBehindProxy: false });
  expect(callerOf(undefined, headers)).toEqual({ address: null, isBehindProxy: false });
  const request = { rawHeaders: headers, socket: { remoteAddress: PEER } };
  expect(readCaller(request, null)).toEqual({ address: PEER, isBehindProxy: false });
});

test('of a trusted peer no other header is believed', () => {
  const headers = ['X-Real-IP', '198.51.100.2', 'Forwarded', 'for=198.51.100.3', 'X-Client-IP', '198.51.100.4'];
  expect(callerOf('::ffff:10.0.0.2', headers)).toEqual({ address: PEER, isBehindProxy: true });
});

test('a chain that is longer than anybody’s is left where it is', () => {
  const chain = Array.from({ length: 40 }, (_, index) => `10.0.0.${index + 1}`);
  expect(followForwardedFor(PEER, [chain.join(',')], trust('10.0.0.0/8'))).toBe(`10.0.0.${41 - MAX_TRUSTED_HOPS}`);
});

test('whether the client came by TLS is what the nearest proxy says', () => {
  expect(saysTls(['X-Forwarded-Proto', 'https'])).toBe(true);
  expect(saysTls(['x-forwarded-proto', 'http', 'X-Forwarded-Proto', ' HTTPS '])).toBe(true);
  expect(saysTls(['X-Forwarded-Proto', 'https', 'X-Forwarded-Proto', 'http'])).toBe(false);
  expect(saysTls([])).toBe(false);
});

const anyAddress = fc.oneof(fc.ipV4(), fc.ipV6());
const trustedAddress = fc.integer({ min: 0, max: 255 }).map((last) => `10.9.8.${last}`);
const anyEntry = fc.oneof(
  anyAddress,
  trustedAddress,
  fc.constantFrom(
    'unknown',
    '',
    '_hidden',
    '10.0.0',
    '::ffff:10.0.0.1',
    '[10.0.0.1]',
    '[::1',
    '1.2.3.4:',
    'for=10.0.0.1',
  ),
  fc.string({ maxLength: 20 }).filter((text) => !text.includes(',')),
);

test('whatever a client writes, it cannot become another address than the proxy saw', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(anyEntry, { minLength: 1, maxLength: 5 }), { maxLength: 4 }),
      fc.ipV4().filter((address) => !address.startsWith('10.')),
      fc.array(trustedAddress, { maxLength: 5 }),
      fc.boolean(),
      (invented, client, proxies, isOwnLine) => {
        const written = invented.map((entries) => entries.join(','));
        const added = [client, ...proxies].join(', ');
        const lines =
          isOwnLine || written.length === 0
            ? [...written, added]
            : [...written.slice(0, -1), `${written.at(-1)},${added}`];
        expect(followForwardedFor(PEER, lines, trust('10.0.0.0/8'))).toBe(client);
      },
    ),
    { numRuns: 1_000 },
  );
});

test('the result is the peer, or an entry right of which every one is a trusted address', () => {
  const trusted = trust('10.0.0.0/8, fd00::/8');
  fc.assert(
    fc.property(fc.array(anyEntry, { maxLength: 12 }), (entries) => {
      const found = followForwardedFor(PEER, [entries.join(',')], trusted);
      if (found === PEER) return;
      const seen = entries
        .join(',')
        .split(',')
        .map((entry) => entry.trim());
      const vouched: string[] = [];
      for (const entry of seen.reverse()) {
        const address = readIpAddress(entry.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^([\d.]+):\d+$/, '$1'));
        if (address === null) break;
        vouched.push(address);
        if (!trusted.has(address)) break;
      }
      expect(found).toBe(vouched.at(-1));
      expect(vouched.slice(0, -1).every(trusted.has)).toBe(true);
      expect(readIpAddress(found)).toBe(found);
    }),
    { numRuns: 1_000 },
  );
});

test('addresses have one spelling', () => {
  fc.assert(
    fc.property(anyAddress, (text) => {
      const address = readIpAddress(text);
      expect(address).not.toBeNull();
      expect(readIpAddress(address ?? '')).toBe(address);
      expect(address).toBe(address?.toLowerCase());
    }),
  );
});
