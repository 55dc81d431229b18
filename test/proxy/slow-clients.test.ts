import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const LARGE = Buffer.from(JSON.stringify('x'.repeat(16 * 1024 * 1024)));
const LARGE_ANSWER = buildAnswer({ headers: [['Content-Type', 'application/json']], framing: 'chunked', body: LARGE });

let provider: ScriptedProvider;
let proxy: InProcessProxy;
const sockets: Socket[] = [];

async function start(patience: Parameters<typeof startProxy>[5], maxConnections = 100): Promise<void> {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin, {}, {}, { ...DEFAULT_LIMITS, maxConnections }, undefined, patience);
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await proxy.close();
  await provider.close();
});

function open(text = ''): Socket {
  const socket = connect({ port: proxy.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write(text, 'latin1');
  sockets.push(socket);
  return socket;
}

function get(path = '/v1/models', headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${proxy.key}\r\n${headers}\r\n`;
}

async function countConnections(): Promise<number> {
  return new Promise((resolve) => proxy.server.getConnections((_error, count) => resolve(count)));
}

async function noConnections(): Promise<void> {
  while ((await countConnections()) > 0) await sleep(5);
}

test('a client that reads nothing of an open answer is cut, the provider’s side too, and the record says why', async () => {
  await start({ stallMs: 100 });
  provider.setAnswer(() => LARGE_ANSWER);
  const socket = open(get());
  socket.pause();
  await (await provider.waitForRequest(0)).closed;
  const { end } = await proxy.lastCall();
  expect(end).toMatchObject({ outcome: 'client_closed', status: 200, errorType: 'client_stalled' });
  expect(end.responseBytes).toBeLessThan(LARGE.length);
  await noConnections();
});

test('so is one over HTTP/2, whose other streams go on', async () => {
  await start({ stallMs: 100 });
  const session = connectHttp2(proxy.base);
  session.on('error', () => {});
  provider.setAnswer(() => LARGE_ANSWER);
  const stream = session.request({ ':path': '/v1/models', 'x-gateway-key': proxy.key });
  stream.on('error', () => {});
  await once(stream, 'response');
  await (await provider.waitForRequest(0)).closed;
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', errorType: 'client_stalled' });
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  const other = session.request({ ':path': '/v1/models', 'x-gateway-key': proxy.key });
  const [head] = await once(other, 'response');
  expect(head[':status']).toBe(200);
  session.destroy();
});

test('a client that reads slowly, but reads, gets the whole answer', async () => {
  // Less than the whole takes, and much more than what the sockets between hold, also where everything is slow.
  await start({ stallMs: 3_000 });
  provider.setAnswer(() => LARGE_ANSWER);
  const socket = open(get('/v1/models', 'Connection: close\r\n'));
  let taken = 0;
  socket.on('data', (chunk: Buffer) => {
    taken += chunk.length;
    socket.pause();
    setTimeout(() => socket.resume(), 14);
  });
  await once(socket, 'end');
  expect(taken).toBeGreaterThan(LARGE.length);
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'ok', errorType: null });
});

test('what is left of a connection that is not read at all is cut by the listener, whatever was answered on it', async () => {
  await start({ stalledMs: 100, stalledSweepMs: 20 });
  provider.setAnswer(() => LARGE_ANSWER);
  const socket = open(get());
  socket.pause();
  await (await provider.waitForRequest(0)).closed;
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', errorType: null });
  await noConnections();
});

test('a client that does not finish its head is told so and cut', async () => {
  await start({ headersTimeoutMs: 100, checkIntervalMs: 20 });
  const answer = await readRawAnswer('127.0.0.1', proxy.port, 'GET /v1/models HTTP/1.1\r\nHost: g\r\nX-Slo');
  expect([answer.status, answer.end]).toEqual([408, 'complete']);
  await noConnections();
});

test('a body that comes byte by byte arrives as it was sent', async () => {
  await start({});
  const body = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251));
  const framed = Buffer.concat([...body].map((byte) => Buffer.from([0x31, 13, 10, byte, 13, 10])));
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nX-Gateway-Key: ${proxy.key}\r\nTransfer-Encoding: chunked\r\n\r\n`;
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(head), framed, Buffer.from('0\r\n\r\n')]));
  expect((await provider.waitForRequest(0)).body().equals(body)).toBe(true);
});

test('connections beyond the limit are closed at once and counted; when others end, there is room again', async () => {
  await start({ maxConnections: 2 });
  const [first] = [open(), open()];
  while ((await countConnections()) < 2) await sleep(5);
  const third = open(get());
  third.resume();
  await new Promise((resolve) => third.once('close', resolve));
  expect([third.bytesRead, proxy.gateway.counters.droppedConnections]).toEqual([0, 1]);
  first?.destroy();
  while ((await countConnections()) > 1) await sleep(5);
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  expect((await readRawAnswer('127.0.0.1', proxy.port, get())).status).toBe(200);
});

test('calls beyond the connections that providers may have are refused as busy; idle connections give way', async () => {
  await start({}, 2);
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  provider.setAnswer(() => [{ waitFor: go }, ...buildAnswer({ body: '{}' })]);
  const calls = [1, 2].map(() => readRawAnswer('127.0.0.1', proxy.port, get()));
  await provider.waitForRequest(1);
  const busy = await readRawAnswer('127.0.0.1', proxy.port, get());
  expect(busy.status).toBe(503);
  expect(busy.rawHeaders).toContain('gateway_busy');
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'upstream_unreachable', errorType: 'gateway_busy' });
  letGo();
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200]);
  // Both are idle now, to one origin, and the limit is full; a call to another origin gets one all the same.
  const other = await startScriptedProvider();
  const routes = Object(proxy.gateway.routes);
  routes.upstreams = { ...routes.upstreams, anthropic: { origin: other.origin, region: null } };
  const named = await readRawAnswer('127.0.0.1', proxy.port, get('/v1/models', 'anthropic-version: 1\r\n'));
  expect(named.status).toBe(200);
  await other.close();
});
