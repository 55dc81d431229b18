import { duplexPair } from 'node:stream';
import { expect, it } from 'vitest';
import { WebsocketRelay } from './websocket-relay.ts';

it('ends with its key, though a chunk of the provider waits for its record just then', async () => {
  const [client, clientEnd] = duplexPair();
  const [provider, providerEnd] = duplexPair();
  const recorded = Promise.withResolvers<void>();
  const relay = new WebsocketRelay(
    client,
    provider,
    { fromClient: () => {}, fromProvider: () => recorded.promise, mayHaveClosed: () => true },
    'digest',
    { accountId: 1, keyId: 1, traceId: null },
  );
  relay.start([], Buffer.alloc(0));
  const received: Buffer[] = [];
  clientEnd.on('data', (chunk: Buffer) => received.push(chunk));
  // A text frame "hi".
  const frame = Buffer.from([0x81, 2, 0x68, 0x69]);
  providerEnd.write(frame);
  await new Promise((resolve) => setImmediate(resolve));
  relay.endKey('rate_limit_exceeded');
  recorded.resolve();
  expect(await relay.ended).toEqual({ kind: 'key-ended', code: 'rate_limit_exceeded', isTold: true });
  relay.release();
  await new Promise((resolve) => setImmediate(resolve));
  const all = Buffer.concat(received);
  expect(all.subarray(0, 4)).toEqual(frame);
  expect(all.subarray(8).toString()).toBe('a limit of the gateway is reached, try again later');
});

it.each([null, 'late'])(
  'passes nothing of the client on once its key has ended, while a chunk of the provider waits (%s verdict)',
  async (verdict) => {
    const [client, clientEnd] = duplexPair();
    const [provider, providerEnd] = duplexPair();
    const recorded = Promise.withResolvers<void>();
    const judged = Promise.withResolvers<null>();
    const relay = new WebsocketRelay(
      client,
      provider,
      { fromClient: () => {}, fromProvider: () => recorded.promise, mayHaveClosed: () => true },
      'digest',
      { accountId: 1, keyId: 1, traceId: null },
      () => (verdict === 'late' ? judged.promise : null),
    );
    relay.start([], Buffer.alloc(0));
    const atProvider: Buffer[] = [];
    providerEnd.on('data', (chunk: Buffer) => atProvider.push(chunk));
    providerEnd.write(Buffer.from([0x81, 2, 0x68, 0x69]));
    if (verdict === 'late') clientEnd.write('before');
    await new Promise((resolve) => setImmediate(resolve));
    relay.endKey('key_revoked');
    judged.resolve(null);
    clientEnd.write('after');
    await new Promise((resolve) => setImmediate(resolve));
    expect(Buffer.concat(atProvider).toString()).toBe('');
    recorded.resolve();
    expect(await relay.ended).toMatchObject({ kind: 'key-ended', code: 'key_revoked' });
    relay.release();
  },
);

it('does not count what a client sent before it ended its side, where it is judged too late to be sent', async () => {
  const [client, clientEnd] = duplexPair();
  const [provider] = duplexPair();
  const judged = Promise.withResolvers<null>();
  const counted: string[] = [];
  const relay = new WebsocketRelay(
    client,
    provider,
    { fromClient: (chunk) => counted.push(String(chunk)), fromProvider: () => null, mayHaveClosed: () => true },
    'digest',
    { accountId: 1, keyId: 1, traceId: null },
    (chunk) => (String(chunk) === 'late' ? judged.promise : null),
  );
  relay.start([Buffer.from('early')], Buffer.alloc(0));
  clientEnd.write('late');
  await new Promise((resolve) => setImmediate(resolve));
  provider.end();
  judged.resolve(null);
  await new Promise((resolve) => setImmediate(resolve));
  expect(counted).toEqual(['early']);
  relay.shutDown();
  relay.release();
});
