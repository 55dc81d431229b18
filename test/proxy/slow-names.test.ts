import type { LookupFunction } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shareNames } from '../../src/proxy/upstream/shared-names.ts';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { callOnce, NO_EGRESS, startCall, TEST_LIMITS } from './upstream-driver.ts';
import { startRawProvider } from './websocket-provider.ts';

let provider: ScriptedProvider;

beforeEach(async () => {
  provider = await startScriptedProvider();
  // Each call is to need a connection, and with it an address.
  provider.setAnswer(() => buildAnswer({ headers: [['Connection', 'close']], body: '{}' }));
});
afterEach(() => provider.close());

/** Knows every name as this machine, and `slow.test` only when it is let. */
function openNames() {
  const asked: string[] = [];
  const gate = Promise.withResolvers<void>();
  const addresses = ['127.0.0.1'];
  const lookUp: LookupFunction = (hostname, _options, callback) => {
    asked.push(hostname);
    const answer = (): void => callback(null, [{ address: addresses.shift() ?? '127.0.0.1', family: 4 }]);
    if (hostname === 'slow.test') void gate.promise.then(answer);
    else process.nextTick(answer);
  };
  return { asked, addresses, shared: shareNames({ lookUp, maxLookUps: 4 }), release: gate.resolve };
}

test('twelve calls wait for one look-up of a slow name and then succeed; calls to others do not notice', async () => {
  const names = openNames();
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS, names.shared);
  try {
    const waiting = Array.from({ length: 12 }, () =>
      startCall(client, { origin: `http://slow.test:${provider.port}` }),
    );
    for (let count = 0; count < 20; count += 1) {
      expect(await callOnce(client, { origin: `http://quick.test:${provider.port}` })).toMatchObject({ status: 200 });
    }
    expect(names.asked).toEqual(['slow.test', 'quick.test']);
    names.release();
    const answers = await Promise.all(waiting.map(({ outcome }) => outcome));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(names.asked).toEqual(['slow.test', 'quick.test']);
  } finally {
    await client.close();
  }
});

test('a provider that has moved is found by the call after the one that could not connect', async () => {
  const names = openNames();
  // The first address refuses: nothing listens there on that port.
  names.addresses.unshift('127.99.99.99');
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS, names.shared);
  try {
    const origin = `http://moved.test:${provider.port}`;
    expect((await callOnce(client, { origin })).failure?.code).toBe('upstream_unreachable');
    expect((await callOnce(client, { origin })).status).toBe(200);
    expect(names.asked).toEqual(['moved.test', 'moved.test']);
  } finally {
    await client.close();
  }
});

test('a provider that lets nobody connect leaves a quarter of the connections to the others', async () => {
  const mute = await startRawProvider(() => {});
  const client = createUpstreamClient(NO_EGRESS, { ...TEST_LIMITS, maxConnections: 8 });
  try {
    const origin = `https://127.0.0.1:${new URL(mute.origin).port}`;
    const waiting = Array.from({ length: 6 }, () => startCall(client, { origin }));
    expect((await callOnce(client, { origin })).failure?.code).toBe('gateway_busy');
    expect((await callOnce(client, { origin: provider.origin })).status).toBe(200);
    for (const { call } of waiting) call.abort();
  } finally {
    await client.close();
    await mute.close();
  }
});

test('the name of an egress proxy is looked up once for all calls through it', async () => {
  const names = openNames();
  const httpProxy = `http://slow.test:${provider.port}`;
  const egress = { httpProxy, httpsProxy: null, noProxy: '127.0.0.1' };
  const client = createUpstreamClient(egress, TEST_LIMITS, names.shared);
  try {
    const waiting = Array.from({ length: 12 }, () => startCall(client, { origin: 'http://provider.test' }));
    expect((await callOnce(client, { origin: provider.origin })).status).toBe(200);
    names.release();
    const answers = await Promise.all(waiting.map(({ outcome }) => outcome));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(names.asked).toEqual(['slow.test']);
  } finally {
    await client.close();
  }
});
