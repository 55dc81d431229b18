/** What the proxy port does with a client's connection: how long it is kept, in which order it is served, how it ends. */
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { beforeEach, expect, test } from 'vitest';
import { HELD_BODIES_BYTES } from '../../src/proxy/gateway.ts';
import { IdleSweep } from '../../src/proxy/idle-sweep.ts';
import { createProxyServer, SERVER_LIMITS } from '../../src/proxy/proxy-server.ts';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { startProxy } from './start-proxy.ts';
import { callOnce, NO_EGRESS, TEST_LIMITS } from './upstream-driver.ts';

const { provider, proxy } = await openProxy();

beforeEach(() => provider.setAnswer(() => buildAnswer({ body: 'whole' })));

function get(target: string, lines: readonly string[] = [], version = '1.1'): string {
  return [`GET ${target} HTTP/${version}`, 'Host: a', `X-Gateway-Key: ${proxy.key}`, ...lines, '', ''].join('\r\n');
}

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  readonly ended: Promise<void>;
  readonly has: (part: string) => Promise<void>;
}

/** It keeps its side open whatever the gateway does. */
function open(port = proxy.port): Client {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1');
  socket.on('data', (part) => {
    text += part;
  });
  socket.on('error', () => {}); // `close` follows.
  const ended = new Promise<void>((resolve) => socket.once('end', () => resolve()));
  async function has(part: string): Promise<void> {
    while (!text.includes(part) && !socket.destroyed) await new Promise((resolve) => setTimeout(resolve, 2));
    expect(text).toContain(part);
  }
  return { socket, text: () => text, ended, has };
}

test('an HTTP/1.0 client is answered and closed, kept only if it asks, and never told to continue', async () => {
  const plain = open();
  plain.socket.write(get('/v1/models', [], '1.0'));
  await plain.ended;
  expect(plain.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*Connection: close\r\n\r\nwhole$/);
  plain.socket.destroy();

  const kept = open();
  kept.socket.write(get('/v1/models?1', ['Connection: keep-alive'], '1.0'));
  await kept.has('whole');
  kept.socket.write(get('/v1/models?2', [], '1.0'));
  await kept.ended;
  expect(kept.text().match(/HTTP\/1\.1 200/g)).toHaveLength(2);
  kept.socket.destroy();

  const waiting = open();
  waiting.socket.write(get('/v1/files', ['Expect: 100-continue', 'Content-Length: 2'], '1.0').replace('GET', 'POST'));
  waiting.socket.write('{}');
  await waiting.ended;
  expect(waiting.text()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  waiting.socket.destroy();
});

test('a pipelined request is not begun before the answer to the one before it has left', async () => {
  const first = Promise.withResolvers<void>();
  provider.setAnswer(({ target }) => [
    ...(target.endsWith('1') ? [{ waitFor: first.promise }] : []),
    ...buildAnswer({ body: `whole ${target}` }),
  ]);
  const seen = provider.requests.length;
  const client = open();
  client.socket.write(get('/v1/models?1') + get('/v1/models?2') + get('/v1/models?3'));
  await provider.waitForRequest(seen);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(provider.requests).toHaveLength(seen + 1);
  first.resolve();
  await client.has('whole /v1/models?3');
  expect(Array.from(client.text().matchAll(/whole \/v1\/models\?(\d)/g), ([, number]) => number)).toEqual([
    '1',
    '2',
    '3',
  ]);
  client.socket.destroy();
});

test('more pipelined requests than one connection may have waiting close it', async () => {
  provider.setAnswer(() => [{ waitMs: 10_000 }]);
  const client = open();
  client.socket.write(get('/v1/models').repeat(100));
  await client.ended;
  expect(client.text()).toBe('');
});

test('what stands behind an offer of another protocol is not run, and the client is told that its answer is the last', async () => {
  const seen = provider.requests.length;
  const client = open();
  const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];
  const next = get('/v1/models?next');
  client.socket.write(get('/v1/models', offer) + next.slice(0, 20));
  client.socket.write(next.slice(20));
  await client.ended;
  expect(client.text()).toMatch(/\r\nConnection: close\r\n/);
  expect(provider.requests.slice(seen).map(({ target }) => target)).toEqual(['/v1/models']);
  client.socket.destroy();
});

test('a client that is still sending its body reads the refusal before the connection ends', async () => {
  for (const bytes of [300_000, 11 * 1024 * 1024]) {
    const client = open();
    client.socket.write(`POST /v1/files HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
    // Clients of this kind read nothing before all is sent.
    client.socket.pause();
    await new Promise<void>((resolve) => client.socket.write(Buffer.alloc(bytes), () => resolve()));
    client.socket.resume();
    await client.ended;
    expect(client.text()).toMatch(/^HTTP\/1\.1 401 [\s\S]*X-Gateway-Error: key_missing[\s\S]*\}\}$/);
    client.socket.destroy();
  }
});

test('a connection that was refused is closed, also when its client never closes it', async () => {
  const clients = ['garbage\r\n\r\n', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'].map((text) => {
    const client = open();
    client.socket.write(text);
    return client;
  });
  await Promise.all(clients.map(({ ended }) => ended));
  // Its own side is still open: what it would send is answered by a reset once the gateway has closed.
  for (;;) {
    const left = await new Promise<number>((resolve) => proxy.server.getConnections((_, count) => resolve(count)));
    if (left === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const { socket } of clients) socket.destroy();
});

test('clients that break off behind a CONNECT harm nobody', async () => {
  const failures: unknown[] = [];
  const note = (error: unknown): void => void failures.push(error);
  process.on('uncaughtExceptionMonitor', note);
  for (let round = 0; round < 20; round += 1) {
    const { socket } = open();
    socket.write(`CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat((round % 4) * 100_000)}`, () =>
      socket.resetAndDestroy(),
    );
    await new Promise((resolve) => socket.once('close', resolve));
  }
  const after = open();
  after.socket.write(get('/v1/models'));
  await after.has('whole');
  after.socket.destroy();
  process.off('uncaughtExceptionMonitor', note);
  expect(failures).toEqual([]);
});

test('a CONNECT behind a request that has no whole answer closes the connection, and is not answered in its place', async () => {
  const reached = Promise.withResolvers<void>();
  const rest = Promise.withResolvers<void>();
  provider.setAnswer(() => {
    reached.resolve();
    return [{ waitFor: rest.promise }, ...buildAnswer({ body: 'whole' })];
  });
  const client = open();
  client.socket.write(get('/v1/models'));
  await reached.promise;
  client.socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.ended;
  rest.resolve();
  client.socket.destroy();
  expect(client.text()).toBe('');
});

test('a client that closes its sending side counts as gone: its call is aborted', async () => {
  provider.setAnswer(() => [{ waitMs: 10_000 }]);
  const seen = provider.requests.length;
  const client = open();
  client.socket.write(get('/v1/models'));
  const request = await provider.waitForRequest(seen);
  client.socket.end();
  await request.closed;
  expect((await proxy.lastCall()).end.outcome).toBe('client_closed');
  client.socket.destroy();
});

test('a body of which no byte comes for the limit is a 408, one that comes slowly is not', async () => {
  const idleBodies = new IdleSweep(150, 20);
  const { server } = createProxyServer({ ...proxy.gateway, idleBodies });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const head = get('/v1/files', ['Content-Length: 6']).replace('GET', 'POST');
  const slow = open(address.port);
  slow.socket.write(head);
  for (const byte of 'abcdef') {
    await new Promise((resolve) => setTimeout(resolve, 60));
    slow.socket.write(byte);
  }
  await slow.has('whole');
  slow.socket.destroy();
  const silent = open(address.port);
  silent.socket.write(`${head}abc`);
  await silent.has('request_timeout');
  expect(silent.text()).toMatch(/^HTTP\/1\.1 408 /);
  silent.socket.destroy();

  // So is one that was on its way to the provider already: the silence is not the provider's.
  const streamed = open(address.port);
  streamed.socket.write(`${get('/v1/files', ['Content-Length: 300000']).replace('GET', 'POST')}abc`);
  await streamed.has('request_timeout');
  expect(streamed.text()).toMatch(/^HTTP\/1\.1 408 /);
  expect((await proxy.lastCall()).end).toMatchObject({
    outcome: 'rejected',
    status: 408,
    errorType: 'request_timeout',
    errorMessage: 'No byte of the request arrived for 60 s.',
  });
  streamed.socket.destroy();

  // Nothing of what comes behind the refusal takes room for held bodies.
  const late = open(address.port);
  late.socket.write(`${get('/v1/chat/completions', ['Content-Length: 3000000']).replace('GET', 'POST')}{`);
  await late.has('request_timeout');
  late.socket.write(Buffer.alloc(2_000_000, 'x'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  late.socket.destroy();
  expect(proxy.gateway.heldBodies.take(HELD_BODIES_BYTES)).toBe(true);
  proxy.gateway.heldBodies.give(HELD_BODIES_BYTES);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  idleBodies.close();
});

test('a client that falls silent in its body while the answer comes has cut it, not the provider', async () => {
  const early = await startScriptedProvider({
    answerHead: () => [{ write: 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nbegun' }],
  });
  const other = await startProxy(early.origin);
  const idleBodies = new IdleSweep(150, 20);
  const { server } = createProxyServer({ ...other.gateway, idleBodies });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = open(Object(server.address()).port);
  const head = get('/v1/files', ['Content-Length: 300000']).replace('GET', 'POST').replace(proxy.key, other.key);
  client.socket.write(`${head}abc`);
  await client.has('begun');
  const { end } = await other.lastCall();
  expect(end).toMatchObject({ outcome: 'client_closed', status: 200, errorType: 'request_timeout' });
  expect(end.closedBefore).toBe('end');
  client.socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  idleBodies.close();
  await other.close();
  await early.close();
});

test('heads may take 30 s, bodies as long as they take, and idle connections outlive those of load balancers', () => {
  const { headersTimeout, requestTimeout, keepAliveTimeout } = proxy.server;
  expect({ headersTimeout, requestTimeout, keepAliveTimeout }).toEqual({
    headersTimeout: 30_000,
    requestTimeout: 0,
    keepAliveTimeout: 75_000,
  });
});

test('pages of other sites get no leave: a preflight without a key is refused, and no CORS header is added', async () => {
  const preflight = open();
  preflight.socket.write(
    'OPTIONS /v1/models HTTP/1.1\r\nHost: a\r\nOrigin: https://evil.test\r\nAccess-Control-Request-Method: POST\r\n\r\n',
  );
  await preflight.has('key_missing');
  const call = open();
  call.socket.write(get('/v1/models', ['Origin: https://evil.test']));
  await call.has('whole');
  expect(preflight.text() + call.text()).not.toMatch(/access-control/i);
  preflight.socket.destroy();
  call.socket.destroy();
});

test('a provider that does not finish its handshake in time fails the call with a code of its own', async () => {
  const sockets: Socket[] = [];
  const mute = createTcpServer((socket) => sockets.push(socket.on('error', () => {})));
  await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
  const address = mute.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const client = createUpstreamClient(NO_EGRESS, { ...TEST_LIMITS, connectTimeoutMs: 50 });
  const { failure } = await callOnce(client, { origin: `https://127.0.0.1:${address.port}` });
  expect(failure?.code).toBe('upstream_connect_timeout');
  await client.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => mute.close(resolve));
});

test('a connection is not used for longer than its provider says that it keeps it', async () => {
  provider.setAnswer(() => buildAnswer({ headers: [['Keep-Alive', 'timeout=1']], body: '{}' }));
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  const once = async () => (await callOnce(client, { origin: provider.origin })).isReused;
  expect([await once(), await once()]).toEqual([[false], [false]]);
  await client.close();
});

test('a connection without a request is kept for as long as the setting says', () => {
  const { server } = createProxyServer(proxy.gateway, { ...SERVER_LIMITS, keepAliveMs: 3_700_000 });
  expect(server.keepAliveTimeout).toBe(3_700_000);
});
