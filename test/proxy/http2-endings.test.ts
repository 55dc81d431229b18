import { type EventEmitter, once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKeySnapshot } from '../../src/keys/key-snapshot.ts';
import { Http2Sessions } from '../../src/proxy/http2/http2-sessions.ts';
import { endCallsOfEndedKeys } from '../../src/proxy/key-end.ts';
import type { Answer } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import {
  exchangeBytes,
  HEALTH_REQUEST,
  MODELS_REQUEST,
  PREFACE,
  requestFrame,
  resetFrame,
  SETTINGS_FRAME,
  windowSetting,
  windowUpdate,
} from './http2-frames.ts';
import { openProxy } from './open-proxy.ts';
import { headerOf, readHttp2Answer } from './read-http2-answer.ts';
import { startProxy } from './start-proxy.ts';

const { NGHTTP2_CANCEL, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR, NGHTTP2_PROTOCOL_ERROR } = constants;

const { provider, proxy } = await openProxy();
let session: ClientHttp2Session;

beforeEach(() => {
  session = openSession(proxy.base);
});
afterEach(() => session.destroy());

function openSession(base: string): ClientHttp2Session {
  const opened = connectHttp2(base);
  opened.on('error', () => {}); // its streams tell
  return opened;
}

function messages(key = proxy.key) {
  return { method: 'POST', path: '/v1/messages', body: '{"model":"claude-x"}', headers: ['x-gateway-key', key] };
}

const never = new Promise(() => {});
const STREAM = [['Content-Type', 'text/event-stream']] as const;

test.each([NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR])(
  'a client that resets the stream (code %i) is gone: the provider is left at once, the record says so',
  async (code) => {
    const first = provider.requests.length;
    provider.setAnswer(() => [
      ...buildAnswer({ headers: STREAM, framing: 'chunked', body: 'data: 1\n\n' }).slice(0, 2),
      { waitFor: never },
    ]);
    const answer = await readHttp2Answer(session, { ...messages(), onBody: (_, stream) => stream.close(code) });
    expect(answer.body.toString()).toBe('data: 1\n\n');
    const seen = await provider.waitForRequest(first);
    await seen.closed;
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: 200 });
  },
);

test('a request that is reset in the packet it came in never goes to the provider', async () => {
  const first = provider.requests.length;
  const begun = (await proxy.entries()).length;
  const request = requestFrame(1, [...MODELS_REQUEST, ['x-gateway-key', proxy.key]]);
  // What is answered last tells that the one before was dealt with.
  const health = requestFrame(3, HEALTH_REQUEST);
  const packet = Buffer.concat([PREFACE, SETTINGS_FRAME, request, resetFrame(1, NGHTTP2_CANCEL), health]);
  await exchangeBytes(proxy.port, [packet], '"status":"ok"');
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: null });
  expect((await proxy.entries()).slice(begun).map(({ type }) => type)).toEqual(['begin', 'end']);
  expect(provider.requests.length).toBe(first);
});

test('a session that is destroyed takes all its calls with it', async () => {
  const first = provider.requests.length;
  provider.setAnswer(() => [{ waitFor: never }]);
  const answers = Array.from({ length: 5 }, () => readHttp2Answer(session, messages()));
  const seen = await Promise.all([0, 1, 2, 3, 4].map((index) => provider.waitForRequest(first + index)));
  session.destroy();
  await Promise.all(seen.map(({ closed }) => closed));
  await Promise.all(answers);
});

test.each([NGHTTP2_CANCEL, NGHTTP2_NO_ERROR])(
  'a client that resets (code %i) while its body waits for the provider is gone too',
  async (code) => {
    const upstream = await startServer((socket) => socket.pause());
    const slow = await startProxy(upstream.origin);
    const client = openSession(slow.base);
    void readHttp2Answer(client, {
      method: 'POST',
      path: '/v1/files',
      headers: ['x-gateway-key', slow.key],
      isOpen: true,
      onStream: (stream) => {
        stream.write(Buffer.alloc(32 * 1024 * 1024));
        void waitUntilStill(() => client.socket.bytesWritten).then(() => stream.close(code));
      },
    });
    const socket = await upstream.connection;
    await waitUntil(() => slow.gateway.openCalls.size === 0);
    socket.resume();
    await closeOf(socket);
    expect((await slow.lastCall()).end).toMatchObject({ outcome: 'client_closed', status: null });
    client.destroy();
    await slow.close();
    upstream.close();
  },
);

test('a provider that takes a body slowly slows the client', async () => {
  const upstream = await startServer((socket) => socket.pause());
  const slow = await startProxy(upstream.origin);
  const client = openSession(slow.base);
  const body = Buffer.alloc(32 * 1024 * 1024);
  const answer = readHttp2Answer(client, { ...messages(slow.key), path: '/v1/files', body });
  await upstream.connection;
  await waitUntilStill(() => client.socket.bytesWritten);
  expect(client.socket.bytesWritten).toBeLessThan(body.length / 2);
  client.destroy();
  await answer;
  await slow.close();
  upstream.close();
});

test.each([
  ['chunked', 'chunked'],
  ['of declared length', 'length'],
] as const)(
  'an answer that is cut upstream (%s) is reset with INTERNAL_ERROR after its bytes, never ended',
  async (_, framing) => {
    provider.setAnswer(() =>
      buildAnswer({ headers: STREAM, framing, body: 'x'.repeat(100_000), cuts: [50_000], resetAt: { bodyWrites: 1 } }),
    );
    const answer = await readHttp2Answer(session, messages());
    expect(answer).toMatchObject({ status: 200, end: NGHTTP2_INTERNAL_ERROR });
    expect(answer.body).toHaveLength(50_000);
    expect((await proxy.lastCall()).end.outcome).toBe('upstream_truncated');
  },
);

test('an answer that is cut while the client takes nothing: its bytes still come, then the reset', async () => {
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n0123456789' },
    { waitMs: 20 },
    { write: 'and what came then' },
    { end: true },
  ]);
  const request = requestFrame(1, [...MODELS_REQUEST, ['x-gateway-key', proxy.key]]);
  const wait = Array.from({ length: 10 }, () => Buffer.alloc(0));
  const reset = resetFrame(1, NGHTTP2_INTERNAL_ERROR);
  const answer = await exchangeBytes(
    proxy.port,
    [Buffer.concat([PREFACE, windowSetting(10), request]), ...wait, windowUpdate(1, 1_000)],
    reset,
  );
  expect(answer.toString('latin1')).toMatch(/0123456789.+and what came then/s);
  expect(answer.subarray(-reset.length).equals(reset)).toBe(true);
});

test('an answer that ends with its head, cut: the head comes, then the reset', async () => {
  provider.setAnswer(() => buildAnswer({ body: 'abc', resetAt: 'after-headers' }));
  const answer = await readHttp2Answer(session, messages());
  expect(answer).toMatchObject({ status: 200, end: NGHTTP2_INTERNAL_ERROR });
});

test.each([204, 205])('an answer %i with a length, which HTTP/2 does not allow, comes without it', async (status) => {
  const length = ['Content-Length', status === 204 ? '5' : '0'] as const;
  provider.setAnswer(() => buildAnswer({ status, headers: [length, ['X-Kept', 'yes']], framing: 'none', body: '' }));
  const answer = await readHttp2Answer(session, messages());
  expect(answer).toMatchObject({ status, end: 'complete' });
  expect([headerOf(answer, 'content-length'), headerOf(answer, 'x-kept')]).toEqual([undefined, 'yes']);
});

test('no answer: the refusal, whole', async () => {
  provider.setAnswer(() => buildAnswer({ resetAt: 'before-headers' }));
  const answer = await readHttp2Answer(session, messages());
  expect([answer.status, headerOf(answer, 'x-gateway-error'), answer.end]).toEqual([
    502,
    'upstream_unreachable',
    'complete',
  ]);
});

test.each<[string, Answer]>([
  ['a body', buildAnswer({ body: '{"a":1}' })],
  ['an empty body', buildAnswer({ body: '' })],
  ['chunks', buildAnswer({ framing: 'chunked', body: 'abc' })],
  ['no body', buildAnswer({ status: 204, framing: 'none' })],
  [
    'no body, in chunks',
    [{ write: 'HTTP/1.1 205 OK\r\nTransfer-Encoding: chunked\r\n\r\n' }, { waitMs: 20 }, { write: '0\r\n\r\n' }],
  ],
])('the last frame of an answer with %s waits until the call is recorded', async (_, answer) => {
  const held = await startProxy(provider.origin);
  const { spool } = held.gateway;
  const recorded = Promise.withResolvers<void>();
  const isReached = Promise.withResolvers<void>();
  const end: typeof spool.end = (begin, record, bodies, done) => {
    isReached.resolve();
    void recorded.promise.then(() => spool.end(begin, record, bodies, done));
  };
  Object.assign(held.gateway, { spool: { ...spool, end } });
  provider.setAnswer(() => answer);
  const client = openSession(held.base);
  let isWhole = false;
  const received = readHttp2Answer(client, messages(held.key)).then((whole) => {
    isWhole = true;
    return whole;
  });
  await isReached.promise;
  await new Promise((resolve) => client.ping((...given) => resolve(given))); // behind all that was sent
  expect(isWhole).toBe(false);
  recorded.resolve();
  expect(await received).toMatchObject({ end: 'complete' });
  client.destroy();
  await held.close();
});

test.each([
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['upgrade', 'websocket'],
  ['te', 'gzip'],
])('a request with the header of a connection, %s, is a stream error', async (name, value) => {
  const calls = proxy.gateway.counters.calls;
  const reset = resetFrame(1, NGHTTP2_PROTOCOL_ERROR);
  const request = requestFrame(1, [...HEALTH_REQUEST, [name, value]]);
  const answer = await exchangeBytes(proxy.port, [Buffer.concat([PREFACE, SETTINGS_FRAME, request])], reset);
  expect(answer.includes(reset)).toBe(true);
  expect(proxy.gateway.counters.calls).toBe(calls);
});

test('the beginning of HTTP/2 may come cut at every byte', async () => {
  const bytes = Buffer.concat([PREFACE, SETTINGS_FRAME, requestFrame(1, HEALTH_REQUEST)]);
  const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
  const answers = await Promise.all(
    cuts.map((cut) => exchangeBytes(proxy.port, [bytes.subarray(0, cut), bytes.subarray(cut)], '"ok"}')),
  );
  for (const [index, answer] of answers.entries())
    expect(answer.toString('latin1'), `cut at ${index + 1}`).toContain('{"status":"ok"}');
});

test.each([
  ['a mistyped preface', 'PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n', '400 request_malformed'],
  ['garbage', 'garbage\r\n\r\n', '400 request_malformed'],
  [
    'a preface behind an HTTP/1.1 request',
    `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n${PREFACE}`,
    '400 request_malformed',
  ],
])('%s is no HTTP/2: 400', async (_, bytes, refusal) => {
  const answer = await exchangeBytes(proxy.port, [Buffer.from(bytes)], refusal);
  expect(answer.toString('latin1')).toContain(refusal);
});

test('two thousand sessions of one call each leave nothing behind', async () => {
  provider.setAnswer(() => buildAnswer({ body: '{"is":"whole"}' }));
  await readHttp2Answer(session, { path: '/healthz' });
  const sockets = countSockets();
  const request = requestFrame(1, [...MODELS_REQUEST, ['x-gateway-key', proxy.key]]);
  const bytes = Buffer.concat([PREFACE, SETTINGS_FRAME, request]);
  for (let round = 0; round < 100; round += 1) {
    const answers = Array.from({ length: 20 }, () => exchangeBytes(proxy.port, [bytes], '{"is":"whole"}'));
    expect((await Promise.all(answers)).every((answer) => answer.includes('{"is":"whole"}'))).toBe(true);
  }
  await waitUntil(() => proxy.sessions.size === 1); // the one that every test here has
  expect(await countConnections()).toBe(1);
  expect(countSockets() - sockets).toBeLessThan(50); // those kept to the provider
});

test('a gateway that stops says so, and lets the open ones end', async () => {
  const stopping = await startProxy(provider.origin);
  const open = Promise.withResolvers<void>();
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na' },
    { waitFor: open.promise },
    { write: 'b' },
  ]);
  const client = openSession(stopping.base);
  const goAways: unknown[] = [];
  client.on('goaway', (code, last) => goAways.push([code, last]));
  const answer = readHttp2Answer(client, { ...messages(stopping.key), onBody: () => stopping.sessions.announceEnd() });
  await once(client, 'goaway');
  expect(goAways).toEqual([[NGHTTP2_NO_ERROR, 2 ** 31 - 1]]);
  stopping.sessions.close();
  open.resolve();
  expect((await answer).body.toString()).toBe('ab');
  await once(client, 'close');
  await waitUntil(() => stopping.sessions.size === 0);
  await stopping.close();
});

test('a request that meets the news that the gateway stops is answered, and no session is left open behind its answers', async () => {
  const stopping = await startProxy(provider.origin);
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const [idle, busy] = [openSession(stopping.base), openSession(stopping.base)];
  await Promise.all([idle, busy].map((client) => readHttp2Answer(client, messages(stopping.key))));
  const open = Promise.withResolvers<void>();
  provider.setAnswer(() => [{ waitFor: open.promise }, ...buildAnswer({ body: '{}' })]);
  const before = provider.requests.length;
  const during = readHttp2Answer(busy, messages(stopping.key));
  await provider.waitForRequest(before);
  stopping.gateway.isDraining = true;
  stopping.sessions.announceEnd();
  const behind = readHttp2Answer(idle, messages(stopping.key));
  await once(busy, 'goaway');
  open.resolve();
  expect(await during).toMatchObject({ status: 200, end: 'complete' });
  expect(await behind).toMatchObject({ status: 200, end: 'complete' });
  await waitUntil(() => stopping.sessions.size === 0);
  await stopping.close();
});

test('while it stops, the session ends with the call that is answered', async () => {
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  proxy.gateway.isDraining = true;
  const answer = await readHttp2Answer(session, messages());
  proxy.gateway.isDraining = false;
  expect(answer).toMatchObject({ status: 200, end: 'complete' });
  await once(session, 'close');
});

test('a session without a call is closed when it has been idle, one with a silent call is not', async () => {
  const answers: (() => void)[] = [];
  const times = { firstRequestMs: 60, idleMs: 60, stalledMs: 60_000, stalledSweepMs: 60_000 };
  const sessions = new Http2Sessions(times, ({ response }) => {
    answers.push(() => {
      response.writeHead(200, '', []);
      response.end();
    });
  });
  const server = createServer((socket) => sessions.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const unused = openSession(`http://127.0.0.1:${address.port}`);
  const used = openSession(`http://127.0.0.1:${address.port}`);
  const answer = readHttp2Answer(used, { path: '/' });
  await once(unused, 'close');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(sessions.size).toBe(1);
  for (const send of answers) send();
  expect(await answer).toMatchObject({ status: 200, end: 'complete' });
  await once(used, 'close');
  server.close();
});

test('streams that are opened and reset in a flood end the session', async () => {
  provider.setAnswer(() => [{ waitFor: never }]);
  const flood = openSession(proxy.base);
  const closed = closeOf(flood);
  const goAway = new Promise((resolve) => flood.once('goaway', resolve));
  for (let count = 0; count < 3_000 && !flood.destroyed; count += 1) {
    const stream = flood.request({ ':path': '/v1/models' });
    stream.on('error', () => {});
    stream.close(NGHTTP2_CANCEL);
    if (count % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await goAway).not.toBe(NGHTTP2_NO_ERROR);
  await closed;
});

test('a client that reads slowly slows the provider', async () => {
  const piece = Buffer.alloc(256 * 1024);
  const upstream = await startServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: a/b\r\n\r\n');
    const fill = (): void => {
      while (socket.write(piece));
    };
    socket.on('drain', fill);
    fill();
  });
  const fast = await startProxy(upstream.origin);
  const client = openSession(fast.base);
  const answer = readHttp2Answer(client, {
    method: 'GET',
    path: '/v1/files/x/content',
    headers: ['x-gateway-key', fast.key],
    onBody: (_, stream) => stream.pause(),
  });
  const socket = await upstream.connection;
  await waitUntilStill(() => socket.bytesWritten);
  expect(socket.bytesWritten).toBeLessThan(32 * 1024 * 1024);
  client.destroy();
  await answer;
  await closeOf(socket);
  await fast.close();
  upstream.close();
});

test.each(['length', 'chunked'] as const)(
  'the rest of a whole answer that its client does not take is given up: a reset, no end (%s)',
  async (framing) => {
    provider.setAnswer(() => buildAnswer({ framing, body: 'abcdefgh' }));
    const patience = { stalledMs: 50, stalledSweepMs: 10 };
    const impatient = await startProxy(provider.origin, {}, {}, undefined, undefined, patience);
    const request = requestFrame(1, [...MODELS_REQUEST, ['x-gateway-key', impatient.key]]);
    const reset = resetFrame(1, NGHTTP2_INTERNAL_ERROR);
    const frames = Buffer.concat([PREFACE, windowSetting(4), request]);
    const received = await exchangeBytes(impatient.port, [frames], reset);
    await impatient.close();
    expect(received.includes('abcd')).toBe(true);
    expect(received.includes('efgh')).toBe(false);
    expect(received.includes(reset)).toBe(true);
  },
);

/** Not `once`, which rejects for the error that comes before. */
function closeOf(emitter: EventEmitter): Promise<void> {
  return new Promise((resolve) => emitter.once('close', resolve));
}

interface StartedServer {
  readonly origin: string;
  readonly connection: Promise<Socket>;
  readonly close: () => void;
}

async function startServer(onConnection: (socket: Socket) => void): Promise<StartedServer> {
  const connection = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {}); // a reset by the gateway
    connection.resolve(socket);
    onConnection(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    origin: `http://127.0.0.1:${address.port}`,
    connection: connection.promise,
    close: () => void server.close(),
  };
}

function countSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
}

function countConnections(): Promise<number> {
  return new Promise((resolve, reject) => {
    proxy.server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)));
  });
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Until the figure has not changed for a while. */
async function waitUntilStill(read: () => number): Promise<void> {
  for (let last = -1; last !== read(); ) {
    last = read();
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
}

test('once a stop is announced new connections are served as before, also one after the other', async () => {
  const announced = await startProxy(provider.origin);
  try {
    provider.setAnswer(() => buildAnswer({ body: '{}' }));
    announced.gateway.isDraining = true;
    announced.sessions.announceEnd();
    // Each connection ends with its answer, as one of HTTP/1.1 does.
    for (const [call, status] of [
      [messages(announced.key), 200],
      [{ path: '/readyz' }, 503],
      [messages(announced.key), 200],
    ] as const) {
      const late = openSession(announced.base);
      expect((await readHttp2Answer(late, call)).status).toBe(status);
      await once(late, 'close');
    }
  } finally {
    await announced.close();
  }
});

test('a stream whose key is revoked is reset, and the other streams of its connection go on', async () => {
  const shared = await startProxy(provider.origin);
  const own = openSession(shared.base);
  try {
    provider.setAnswer(() => [
      ...buildAnswer({ headers: STREAM, framing: 'chunked', body: 'data: 1\n\n' }).slice(0, 2),
      { waitFor: never },
    ]);
    const begun = Promise.withResolvers<void>();
    const answer = readHttp2Answer(own, { ...messages(shared.key), onBody: () => begun.resolve() });
    await begun.promise;
    const { snapshot } = shared.gateway.keys;
    const entries = [...(snapshot?.keys.values() ?? [])].map((entry) => ({ ...entry, revoked: true }));
    shared.gateway.keys.snapshot = createKeySnapshot(2, entries);
    endCallsOfEndedKeys(shared.gateway);
    expect(await answer).toMatchObject({ status: 200, end: NGHTTP2_INTERNAL_ERROR });
    expect((await readHttp2Answer(own, { path: '/healthz' })).status).toBe(200);
    expect((await readHttp2Answer(own, messages(shared.key))).status).toBe(401);
    expect((await shared.lastCall()).end).toMatchObject({ outcome: 'shutdown_cut', errorType: 'key_revoked' });
  } finally {
    own.destroy();
    await shared.close();
  }
});
