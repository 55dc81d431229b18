import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { UpstreamClient } from '../../src/proxy/upstream/upstream.ts';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { collectGarbage } from '../support/collect-garbage.ts';
import {
  type ScriptedProvider,
  type ScriptedProviderOptions,
  startScriptedProvider,
} from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { createSeededRandom } from './seeded-random.ts';
import { callOnce, NO_EGRESS, type Outcome, startCall, TEST_LIMITS } from './upstream-driver.ts';

let client: UpstreamClient;
let provider: ScriptedProvider;

beforeEach(async () => {
  client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  provider = await startScriptedProvider();
});
afterEach(async () => {
  await client.close();
  await provider.close();
});

/** The provider of a test that answers heads. */
async function restartProvider(options: ScriptedProviderOptions): Promise<string> {
  await provider.close();
  provider = await startScriptedProvider(options);
  return provider.origin;
}

test('calls one after another use one connection, calls beside each other one each', async () => {
  const { origin } = provider;
  expect((await callOnce(client, { origin })).isReused).toEqual([false]);
  expect((await callOnce(client, { origin })).isReused).toEqual([true]);
  expect(provider.connectionCount()).toBe(1);
  await Promise.all([1, 2, 3].map(() => callOnce(client, { origin })));
  expect(provider.connectionCount()).toBe(3);
});

test('the request is on the wire as it was given, small body in the same write', async () => {
  await callOnce(client, {
    origin: provider.origin,
    method: 'POST',
    path: '/v1/x?a=%2F&b',
    headers: ['X-b', '1', 'x-B', 'caf\u00e9'],
    body: Buffer.from('{"a":1}'),
  });
  const seen = await provider.waitForRequest(0);
  expect(seen.headBytes.toString('latin1')).toBe(
    `POST /v1/x?a=%2F&b HTTP/1.1\r\nHost: 127.0.0.1:${provider.port}\r\nConnection: keep-alive\r\nX-b: 1\r\nx-B: caf\u00e9\r\ncontent-length: 7\r\n\r\n`,
  );
  expect(seen.body().toString()).toBe('{"a":1}');
});

test.each([
  ['a large body', Buffer.alloc(3_000_000, 'x'), null, 3_000_000],
  ['a stream of known length', Readable.from([Buffer.alloc(200_000, 'x'), Buffer.from('end')]), 200_003, 200_003],
  ['a stream in chunks', Readable.from([Buffer.alloc(200_000, 'x'), Buffer.from('end')]), null, 200_003],
  ['an empty stream', Readable.from([]), null, 0],
])('%s arrives whole, and the connection is kept', async (_, body, bodyBytes, length) => {
  const { origin } = provider;
  expect(await callOnce(client, { origin, method: 'POST', body, bodyBytes })).toMatchObject({
    status: 200,
    body: '{}',
  });
  expect((await provider.waitForRequest(0)).body().length).toBe(length);
  expect((await callOnce(client, { origin })).isReused).toEqual([true]);
});

test.each([
  ['shorter', ['abc'], 5],
  ['longer', ['abc', 'def'], 4],
])('a streamed body that is %s than announced fails the call', async (_, parts, bodyBytes) => {
  const body = Readable.from(parts.map((part) => Buffer.from(part)));
  const outcome = await callOnce(client, { origin: provider.origin, method: 'POST', body, bodyBytes });
  expect(outcome.failure?.cause).toMatchObject({ code: 'BODY_LENGTH' });
  expect(provider.requests.at(0)?.isWhole() ?? false).toBe(false);
});

test.each([
  ['Connection: close', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nab'],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nab'],
  ['Keep-Alive with no time left', 'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1\r\nContent-Length: 2\r\n\r\nab'],
  ['bytes behind the answer', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n'],
])('%s: the answer is whole and the connection is not used again', async (_, answer) => {
  provider.setAnswer(() => [{ write: answer }]);
  const first = await callOnce(client, { origin: provider.origin });
  expect(first).toMatchObject({ status: 200, body: 'ab', failure: null });
  expect((await callOnce(client, { origin: provider.origin })).isReused).toEqual([false]);
});

test('an answer that comes unasked on an idle connection kills it and reaches nobody', async () => {
  const poison = Promise.withResolvers<void>();
  provider.setAnswer(({ target }) => [
    ...buildAnswer({ body: target }),
    ...(target === '/first'
      ? [{ waitFor: poison.promise }, { write: 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison' }]
      : []),
  ]);
  const { origin } = provider;
  expect((await callOnce(client, { origin, path: '/first' })).body).toBe('/first');
  poison.resolve();
  await (await provider.waitForRequest(0)).closed;
  expect(await callOnce(client, { origin, path: '/second' })).toMatchObject({ body: '/second', isReused: [false] });
});

test('an unasked answer that is there already, but was not read yet, reaches nobody either', async () => {
  provider.setAnswer(({ target }) =>
    target === '/first'
      ? [
          ...buildAnswer({ body: target }),
          { waitMs: 1 },
          { write: 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison' },
        ]
      : buildAnswer({ body: target }),
  );
  const { origin } = provider;
  for (let round = 0; round < 50; round += 1) {
    expect((await callOnce(client, { origin, path: '/first' })).body).toBe('/first');
    // Blocks the loop until the poison is in the kernel.
    await sleep(0);
    const untilMs = performance.now() + 4;
    while (performance.now() < untilMs);
    expect((await callOnce(client, { origin, path: `/${round}` })).body).toBe(`/${round}`);
  }
});

test('a connection whose end has arrived but was not read yet is replaced before anything is sent on it', async () => {
  const ended = Promise.withResolvers<void>();
  let onEnded = (): void => {};
  const server = await startOwnProvider((socket, path) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`);
    // The callback comes when the end is in the kernel; the client's side of the loop has not seen it.
    if (path === '/first') void ended.promise.then(() => socket.end(() => onEnded()));
    return undefined;
  });
  try {
    const { origin } = server;
    await callOnce(client, { origin, path: '/first' });
    const second = new Promise<Outcome>((resolve) => {
      onEnded = () => resolve(callOnce(client, { origin, path: '/second' }));
    });
    ended.resolve();
    expect(await second).toMatchObject({ body: '/second', failure: null, isReused: [false] });
    expect(server.ledger.get('/second')).toBe(1);
  } finally {
    server.close();
  }
});

test('a provider that closes idle connections while calls race it: no call is run twice', async () => {
  const server = await startOwnProvider((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    return setTimeout(() => socket.end(), 25);
  });
  try {
    const random = createSeededRandom(20_261_128);
    const lost: string[] = [];
    for (let round = 0; round < 40; round += 1) {
      const paths = Array.from({ length: 8 }, (_, index) => `/${round}-${index}`);
      await Promise.all(
        paths.map(async (path) => {
          const outcome = await callOnce(client, {
            origin: server.origin,
            method: 'POST',
            path,
            body: Buffer.from('x'),
          });
          if (outcome.failure === null) expect(server.ledger.get(path)).toBe(1);
          else lost.push(path);
        }),
      );
      // Around the time at which the provider closes.
      await sleep(20 + random() * 10);
    }
    // Those crossed the provider's end on the wire: only the client can know whether to repeat them.
    for (const path of lost) expect(server.ledger.get(path) ?? 0).toBeLessThanOrEqual(1);
    expect(lost.length).toBeLessThan(160);
  } finally {
    server.close();
  }
});

test('a provider that runs a call on a kept connection and then resets: the call fails and is not run again', async () => {
  const { origin } = provider;
  await callOnce(client, { origin });
  provider.setAnswer(() => [{ reset: true }]);
  const outcome = await callOnce(client, {
    origin,
    method: 'POST',
    headers: ['x-call-id', 'one'],
    body: Buffer.from('x'),
  });
  expect(outcome).toMatchObject({ status: null, isReused: [true], failure: { code: 'upstream_unreachable' } });
  expect(provider.ledger.get('one')).toBe(1);
});

test('an early refusal is handed over while the body is still coming; the rest is not sent, the connection not kept', async () => {
  const origin = await restartProvider({
    answerHead: ({ method }) =>
      method === 'POST' ? buildAnswer({ status: 413, reason: 'Too Large', body: 'no' }) : null,
  });
  let pulled = 0;
  const body = new Readable({
    read() {
      pulled += 1;
      setImmediate(() => this.push(Buffer.alloc(64 * 1024)));
    },
  });
  const outcome = await callOnce(client, { origin, method: 'POST', body, bodyBytes: null });
  expect(outcome).toMatchObject({ status: 413, body: 'no', failure: null });
  expect(body.destroyed).toBe(true);
  const pulledThen = pulled;
  await sleep(30);
  expect(pulled).toBeLessThanOrEqual(pulledThen + 1);
  expect((await callOnce(client, { origin })).isReused).toEqual([false]);
});

test('a 200 whose head comes before the body is whole does not stop the body', async () => {
  const sent = Promise.withResolvers<void>();
  const origin = await restartProvider({
    answerHead: () => [
      { write: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na' },
      { waitFor: sent.promise },
      { write: 'b' },
    ],
  });
  const body = new Readable({ read() {} });
  body.push(Buffer.from('one'));
  const { outcome, hasHead } = startCall(client, { origin, method: 'POST', body });
  await hasHead;
  body.push(Buffer.from('two'));
  body.push(null);
  expect((await provider.waitForRequest(0)).body().toString()).toBe('onetwo');
  sent.resolve();
  expect(await outcome).toMatchObject({ body: 'ab', failure: null });
  expect((await callOnce(client, { origin })).isReused).toEqual([true]);
});

test.each(['before its head', 'in its body'])(
  'a call aborted %s closes its connection and tells nothing more',
  async (when) => {
    provider.setAnswer(() =>
      when === 'in its body'
        ? [{ write: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }, { waitMs: 10_000 }]
        : [{ waitMs: 10_000 }],
    );
    const { call, outcome, hasHead } = startCall(client, { origin: provider.origin });
    const request = await provider.waitForRequest(0);
    if (when === 'in its body') await hasHead;
    call.abort();
    call.abort();
    await request.closed;
    expect(await Promise.race([outcome, sleep(20, 'nothing')])).toBe('nothing');
  },
);

test('an abort from within the handing over stops it at once', async () => {
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n' },
  ]);
  const seen: string[] = [];
  const { outcome } = startCall(client, { origin: provider.origin }, (chunk, call) => {
    seen.push(chunk.toString());
    call.abort();
  });
  await (await provider.waitForRequest(0)).closed;
  expect(seen).toEqual(['a']);
  expect(await Promise.race([outcome, sleep(10, 'nothing')])).toBe('nothing');
});

test('while paused neither data nor the end are handed over, also of what was received already', async () => {
  provider.setAnswer(() => [
    {
      write: 'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n',
    },
    { end: true },
  ]);
  const seen: string[] = [];
  const { call, outcome } = startCall(client, { origin: provider.origin }, (chunk, running) => {
    seen.push(chunk.toString());
    running.pause();
  });
  while (seen.length === 0) await sleep(1);
  await sleep(30);
  expect(seen).toEqual(['a']);
  call.resume();
  expect(seen).toEqual(['a', 'b']);
  expect(await Promise.race([outcome, sleep(20, 'nothing')])).toBe('nothing');
  call.resume();
  expect(await outcome).toMatchObject({ body: 'ab', failure: null });
});

test('a call that is paused in its last bytes ends when it is resumed', async () => {
  const { call, outcome } = startCall(client, { origin: provider.origin }, (_, running) => running.pause());
  await provider.waitForRequest(0);
  expect(await Promise.race([outcome, sleep(50, 'nothing')])).toBe('nothing');
  call.resume();
  expect(await outcome).toMatchObject({ body: '{}', failure: null });
  expect((await callOnce(client, { origin: provider.origin })).isReused).toEqual([true]);
});

test('100 MB taken slowly: every byte arrives and no more than 16 MB are held', async () => {
  const block = Buffer.alloc(1024 * 1024, 'x');
  const length = 100 * block.length;
  provider.setAnswer(() => [
    { write: `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n` },
    ...Array.from({ length: 100 }, () => ({ write: block })),
  ]);
  let takenBytes = 0;
  let pauses = 0;
  let peakBytes = 0;
  const heldBytes = () => {
    collectGarbage();
    return process.memoryUsage().arrayBuffers;
  };
  const atStartBytes = heldBytes();
  const { outcome } = startCall(client, { origin: provider.origin }, (chunk, call) => {
    takenBytes += chunk.length;
    if (takenBytes / block.length > pauses) {
      pauses += 1;
      call.pause();
      if (pauses % 5 === 0) peakBytes = Math.max(peakBytes, heldBytes() - atStartBytes);
      setTimeout(() => call.resume(), 1);
    }
  });
  expect((await outcome).failure).toBe(null);
  expect(takenBytes).toBe(length);
  expect(pauses).toBeGreaterThan(90);
  expect(peakBytes).toBeLessThan(16 * 1024 * 1024);
});

test('two callers interleaved get each their own answers', async () => {
  provider.setAnswer(({ target }) =>
    buildAnswer({ body: target, framing: target.length % 2 === 0 ? 'chunked' : 'length' }),
  );
  const { origin } = provider;
  const run = async (who: string): Promise<void> => {
    for (let round = 0; round < 300; round += 1) {
      const path = `/${who}/${round}`;
      expect((await callOnce(client, { origin, path })).body).toBe(path);
    }
  };
  await Promise.all(['a', 'b', 'c', 'd'].map(run));
  expect(provider.connectionCount()).toBeLessThanOrEqual(4);
});

test('a name that cannot be resolved is named', async () => {
  const { failure } = await callOnce(client, { origin: 'http://no-such-host.invalid' });
  expect(failure?.detail).toMatch(/^[A-Z_]+ no-such-host\.invalid$/);
});

test.each([
  ['a name that does not exist', 'http://no-such-host.invalid', 'upstream_name'],
  ['a port where nobody listens', 'http://127.0.0.1:1', 'upstream_unreachable'],
])('%s: %s', async (_, origin, code) => {
  expect((await callOnce(client, { origin })).failure?.code).toBe(code);
});

test.each([
  ['a cut body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', 'upstream_unreachable'],
  ['cut chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', 'upstream_unreachable'],
  ['no answer', '', 'upstream_unreachable'],
  ['nonsense', 'nonsense', 'upstream_protocol'],
  ['headers that are too large', `HTTP/1.1 200 OK\r\nA: ${'x'.repeat(200 * 1024)}\r\n\r\n`, 'upstream_protocol'],
])('a provider that sends %s and closes fails the call', async (_, answer, code) => {
  provider.setAnswer(() => [{ write: answer }, { end: true }]);
  expect((await callOnce(client, { origin: provider.origin })).failure?.code).toBe(code);
});

test('a provider that is silent for too long: before its head, and in its body', async () => {
  const impatient = createUpstreamClient(NO_EGRESS, {
    ...TEST_LIMITS,
    headersTimeoutMs: 100,
    idleTimeoutMs: 100,
  });
  try {
    provider.setAnswer(({ target }) => [
      ...(target === '/body' ? [{ write: 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc' }] : []),
      { waitMs: 10_000 },
    ]);
    const { origin } = provider;
    const head = await callOnce(impatient, { origin });
    expect(head.failure).toMatchObject({ code: 'upstream_timeout', cause: { code: 'HEADERS_TIMEOUT' } });
    const body = await callOnce(impatient, { origin, path: '/body' });
    expect(body).toMatchObject({ body: 'abc', failure: { code: 'upstream_timeout', cause: { code: 'IDLE_TIMEOUT' } } });
  } finally {
    await impatient.close();
  }
});

test('an idle connection is closed after its time', async () => {
  const short = createUpstreamClient(NO_EGRESS, { ...TEST_LIMITS, keepAliveMs: 50 });
  try {
    await callOnce(short, { origin: provider.origin });
    await (await provider.waitForRequest(0)).closed;
    expect((await callOnce(short, { origin: provider.origin })).isReused).toEqual([false]);
  } finally {
    await short.close();
  }
});

test('what listens may fail: the call ends as a defect, the process and other calls go on', async () => {
  const { outcome } = startCall(client, { origin: provider.origin }, () => {
    throw new Error('defect');
  });
  expect((await outcome).failure?.code).toBe('gateway_defect');
  expect((await callOnce(client, { origin: provider.origin })).status).toBe(200);
});

test('closing the client ends the calls that are left, and refuses new ones', async () => {
  provider.setAnswer(() => [{ waitMs: 10_000 }]);
  const { outcome } = startCall(client, { origin: provider.origin });
  await provider.waitForRequest(0);
  await client.close();
  expect((await outcome).failure?.cause).toMatchObject({ code: 'ANSWER_CUT' });
  expect((await callOnce(client, { origin: provider.origin })).failure?.code).toBe('shutting_down');
});

/** A provider that can end connections by itself; counts the calls it runs by their path. */
async function startOwnProvider(answer: (socket: Socket, path: string) => NodeJS.Timeout | undefined) {
  const ledger = new Map<string, number>();
  const server = createServer((socket) => {
    let idle: NodeJS.Timeout | undefined;
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      clearTimeout(idle);
      const path = bytes.toString('latin1').split(' ')[1] ?? '';
      ledger.set(path, (ledger.get(path) ?? 0) + 1);
      idle = answer(socket, path);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { origin: `http://127.0.0.1:${address.port}`, ledger, close: () => server.close() };
}
