import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { shareNames } from '../../src/proxy/upstream/shared-names.ts';
import type { UpstreamClient } from '../../src/proxy/upstream/upstream.ts';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { createPublicTest, lookUpPublic } from '../../src/sockets/public-addresses.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { callOnce, NO_EGRESS, TEST_LIMITS } from './upstream-driver.ts';

/** A name server that says this of every name; what was asked is kept. */
function answerWith(addresses: readonly string[], asked: string[] = []): LookupFunction {
  return (hostname, options, callback) => {
    asked.push(hostname);
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    process.nextTick(() => {
      if (options.all === true) callback(null, found);
      else callback(null, found[0]?.address ?? '', found[0]?.family);
    });
  };
}

describe('an address', () => {
  const isPublic = createPublicTest();

  test.each(['8.8.8.8', '172.15.255.255', '172.32.0.1', '100.63.255.255', '192.0.3.1', '223.255.255.255'])(
    '%s is public',
    (address) => expect(isPublic(address)).toBe(true),
  );
  test.each(['2606:4700::6810:1', '2a00:1450:4001::200e', '2600:1f18::1', '64:ff9b::808:808'])(
    '%s is public, too',
    (address) => expect(isPublic(address)).toBe(true),
  );
  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.255',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
  ])('%s is not', (address) => expect(isPublic(address)).toBe(false));
  test.each([
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::808:808',
    'fd00:ec2::254',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:7f00:1::1',
    '3fff::1',
  ])('%s is not either', (address) => expect(isPublic(address)).toBe(false));
  test.each(['', 'localhost', '127.1', '0x7f000001', '8.8.8.8 '])('%j is none that could be judged', (text) => {
    expect(isPublic(text)).toBe(false);
  });
});

test('the public addresses of a name are left, in their order', async () => {
  const lookUp = lookUpPublic(answerWith(['10.0.0.1', '8.8.8.8', '::1', '2606:4700::1']));
  const all = await new Promise((resolve) => lookUp('a.test', { all: true }, (...given) => resolve(given)));
  expect(all).toEqual([
    null,
    [
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1', family: 6 },
    ],
  ]);
  const one = await new Promise((resolve) => lookUp('a.test', {}, (...given) => resolve(given)));
  expect(one).toEqual([null, '8.8.8.8', 4]);
});

describe('a provider’s address', () => {
  let provider: ScriptedProvider;
  const clients: UpstreamClient[] = [];
  const open = async (lookUp: LookupFunction, egress: Parameters<typeof createUpstreamClient>[0] = NO_EGRESS) => {
    const client = createUpstreamClient(egress, TEST_LIMITS, shareNames({ lookUp }));
    clients.push(client);
    return client;
  };

  beforeEach(async () => {
    provider = await startScriptedProvider();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) await client.close();
    await provider.close();
  });

  test.each([[['127.0.0.1']], [['10.0.0.1', '::1']], [['169.254.169.254']], [['fd00::1']]])(
    'of the built-in table is not connected to when its name leads to %j',
    async (addresses) => {
      const client = await open(answerWith(addresses));
      const origin = `http://provider.test:${provider.port}`;
      const outcome = await callOnce(client, { origin, mayBePrivate: false });
      expect(outcome).toMatchObject({
        status: null,
        isReused: [],
        failure: { code: 'upstream_private_address', cause: { code: 'PRIVATE_ADDRESS' } },
      });
      expect(provider.connectionCount()).toBe(0);
    },
  );

  test('an address that the operator has chosen is connected to wherever it is, and each kind has its own connections', async () => {
    const asked: string[] = [];
    const client = await open(answerWith(['127.0.0.1'], asked));
    const origin = `http://provider.test:${provider.port}`;
    expect(await callOnce(client, { origin, mayBePrivate: true })).toMatchObject({ status: 200, isReused: [false] });
    // An open connection to the same name is not the built-in table's way around the look-up.
    expect((await callOnce(client, { origin, mayBePrivate: false })).failure?.code).toBe('upstream_private_address');
    expect(await callOnce(client, { origin, mayBePrivate: true })).toMatchObject({ status: 200, isReused: [true] });
    // One look-up is enough, since what it found is judged for each call.
    expect(asked).toEqual(['provider.test']);
  });

  test('a private address of the built-in table is refused for a websocket, too', async () => {
    const client = await open(answerWith(['127.0.0.1']));
    const code = await new Promise((resolve) => {
      client.upgrade(
        {
          origin: `http://provider.test:${provider.port}`,
          mayBePrivate: false,
          method: 'GET',
          path: '/',
          headers: [],
          body: null,
          bodyBytes: null,
        },
        {
          onConnection() {},
          onHead() {},
          onTrailers() {},
          onData() {},
          onEnd() {},
          onFailure: (failure) => resolve(failure.code),
          onSwitch: () => resolve('switched'),
        },
      );
    });
    expect(code).toBe('upstream_private_address');
    expect(provider.connectionCount()).toBe(0);
  });

  test('behind an egress proxy is judged only where the proxy is not used', async () => {
    const proxy = await startScriptedProvider();
    try {
      const egress = { httpProxy: proxy.origin, httpsProxy: null, noProxy: '.direct.test' };
      const client = await open(answerWith(['127.0.0.1']), egress);
      const through = await callOnce(client, { origin: 'http://provider.test:80', mayBePrivate: false });
      expect(through.status).toBe(200);
      const direct = `http://a.direct.test:${provider.port}`;
      const refused = await callOnce(client, { origin: direct, mayBePrivate: false });
      expect(refused.failure?.code).toBe('upstream_private_address');
      expect(provider.connectionCount()).toBe(0);
      expect((await callOnce(client, { origin: direct, mayBePrivate: true })).status).toBe(200);
    } finally {
      await proxy.close();
    }
  });

  test('a provider is reached at its next address when the first does not answer', async () => {
    const client = await open(answerWith(['127.0.0.2', '127.0.0.1']));
    const outcome = await callOnce(client, { origin: `http://provider.test:${provider.port}` });
    expect(outcome).toMatchObject({ status: 200, isReused: [false] });
  });
});
