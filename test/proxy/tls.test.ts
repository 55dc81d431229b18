/** The proxy port with TLS of its own: handshakes and their limits, both protocols, and what is below them. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import type { TlsIdentity } from '../../src/vocabulary/channel.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { makeCertificate } from './make-certificate.ts';
import { readHttp2Answer } from './read-http2-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';
import { startWebsocketProvider } from './websocket-provider.ts';

const OLD = makeCertificate();
const NEW = makeCertificate();
const TICKET_KEYS = randomBytes(48).toString('base64');
const LARGE = Buffer.from(JSON.stringify('x'.repeat(16 * 1024 * 1024)));

let provider: ScriptedProvider;
let proxy: InProcessProxy;
const open: { destroy(): unknown }[] = [];

function identityOf(pair: { readonly cert: string; readonly key: string }): TlsIdentity {
  return { ...pair, ticketKeys: TICKET_KEYS };
}

async function start(patience: Parameters<typeof startProxy>[5] = {}): Promise<void> {
  provider = await startScriptedProvider();
  provider.setAnswer(() => buildAnswer({ body: '{"whole":true}' }));
  proxy = await startProxy(provider.origin, {}, {}, DEFAULT_LIMITS, undefined, patience, identityOf(OLD));
}

afterEach(async () => {
  for (const one of open.splice(0)) one.destroy();
  await proxy.close();
  await provider.close();
});

function keep<T extends { destroy(): unknown; on(event: 'error', listener: () => void): unknown }>(one: T): T {
  one.on('error', () => {});
  open.push(one);
  return one;
}

function openPlain(text = ''): Socket {
  const socket = keep(connectTcp({ port: proxy.port, host: '127.0.0.1' }));
  socket.write(text, 'latin1');
  return socket;
}

async function shakeHands(
  options: ConnectionOptions = {},
  onSession: (session: Buffer) => void = () => {},
): Promise<TLSSocket> {
  const socket = keep(
    connect({ port: proxy.port, host: '127.0.0.1', servername: 'localhost', ca: [OLD.cert, NEW.cert], ...options }),
  );
  socket.on('session', onSession);
  await once(socket, 'secureConnect');
  return socket;
}

/** However it ends. */
async function closed(socket: Socket): Promise<void> {
  socket.resume();
  while (!socket.destroyed) await sleep(5);
}

/** Everything until the end of the connection. */
async function readAll(socket: Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  if (!socket.destroyed) await once(socket, 'close');
  return Buffer.concat(parts).toString('latin1');
}

function get(headers = 'Connection: close\r\n', path = '/v1/models'): string {
  return `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-Gateway-Key: ${proxy.key}\r\n${headers}\r\n`;
}

async function ask(options: ConnectionOptions = {}, text = get()): Promise<string> {
  const socket = await shakeHands(options);
  socket.write(text);
  return readAll(socket);
}

function countConnections(): Promise<number> {
  return new Promise((resolve) => proxy.listener.getConnections((_error, count) => resolve(count)));
}

async function noConnections(): Promise<void> {
  while ((await countConnections()) > 0) await sleep(5);
}

async function untilFailed(count: number): Promise<{ failed: number; latest: string | null } | undefined> {
  while ((proxy.gateway.handshakes?.failed ?? 0) < count) await sleep(5);
  return proxy.gateway.handshakes;
}

test('a client of HTTP/1.1 is answered over TLS, whether it names its protocol or not', async () => {
  await start();
  const answers = [await ask({ ALPNProtocols: ['http/1.1'] }), await ask(), await ask({ maxVersion: 'TLSv1.2' })];
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\{"whole":true\}$/);
  const { begin, end } = await proxy.lastCall();
  expect([begin.clientAddress, end.outcome, end.status]).toEqual(['127.0.0.1', 'ok', 200]);
});

test('a client that offers HTTP/2 gets it, calls on one connection side by side', async () => {
  await start();
  const session = keep(connectHttp2(`https://localhost:${proxy.port}`, { ca: OLD.cert }));
  const calls = Array.from({ length: 20 }, () =>
    readHttp2Answer(session, { path: '/v1/models', headers: ['x-gateway-key', proxy.key] }),
  );
  for (const { status, body } of await Promise.all(calls))
    expect([status, body.toString()]).toEqual([200, '{"whole":true}']);
  expect(session.alpnProtocol).toBe('h2');
  expect((await proxy.lastCall()).begin.clientAddress).toBe('127.0.0.1');
  expect(await countConnections()).toBe(1);
});

test('a preface of HTTP/2 without the agreement on it is refused, and the process lives', async () => {
  await start();
  expect(await ask({}, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).toContain('request_malformed');
  expect(await ask()).toContain('200 OK');
});

test('what is neither HTTP/1.1 nor HTTP/2, and TLS below 1.2, is refused in the handshake', async () => {
  await start();
  await expect(shakeHands({ ALPNProtocols: ['imap'] })).rejects.toThrow(/no application protocol/i);
  await expect(
    shakeHands({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }),
  ).rejects.toThrow(/protocol version/);
  expect(await untilFailed(2)).toEqual({ failed: 2, latest: 'unsupported protocol' });
});

test('a websocket goes through, in both directions', async () => {
  const echo = await startWebsocketProvider((socket) => {
    socket.send('from the provider');
    socket.on('message', (data) => socket.send(`heard: ${data}`));
  });
  provider = await startScriptedProvider();
  proxy = await startProxy(echo.origin, {}, {}, DEFAULT_LIMITS, undefined, {}, identityOf(OLD));
  const socket = new WebSocket(`wss://localhost:${proxy.port}/v1/realtime?model=gpt-realtime`, {
    ca: OLD.cert,
    headers: { 'X-Gateway-Key': proxy.key, Authorization: 'Bearer sk-1' },
  });
  const heard: string[] = [];
  socket.on('message', (data) => {
    heard.push(String(data));
    if (heard.length === 1) socket.send('hello');
    else socket.close(1000);
  });
  const [code] = await once(socket, 'close');
  expect([code, ...heard]).toEqual([1000, 'from the provider', 'heard: hello']);
  await echo.close();
});

test('plain HTTP is answered 400 in plain HTTP, with one line that says so; nothing of it is kept', async () => {
  await start();
  for (const text of [
    get('', '/v1/models?key=CANARY'),
    `POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nbo`,
  ]) {
    const answer = await readRawAnswer('127.0.0.1', proxy.port, text);
    expect([answer.status, answer.end]).toEqual([400, 'complete']);
    expect(JSON.parse(answer.body.toString())).toMatchObject({
      error: {
        code: 'tls_required',
        message: 'This port speaks TLS, and the request came in plain HTTP: use https:// in the base address.',
      },
    });
  }
  expect(proxy.gateway.counters.refusals.get('tls_required')).toBe(2);
  expect(proxy.attempts).toMatchObject([
    { code: 'tls_required', status: 400, method: 'GET', path: 'http://…' },
    { code: 'tls_required', status: 400, method: 'POST', path: 'http://…' },
  ]);
  expect(proxy.gateway.handshakes?.failed).toBe(0);
});

test('handshakes that fail are counted with their reason, whatever was sent, and later clients are served', async () => {
  await start();
  const rubbish = [
    [0x80, 0x2e, 1, 0, 2],
    [22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
    [22, 3, 1, 255, 255, ...randomBytes(50)],
  ];
  for (const [index, bytes] of rubbish.entries()) {
    const socket = openPlain();
    socket.write(Buffer.from(bytes));
    if (index === 2) socket.end();
    await closed(socket);
  }
  expect((await untilFailed(3))?.failed).toBe(3);
  expect(await ask()).toContain('200 OK');
  // As a client does that trusts another authority.
  const url = `https://localhost:${proxy.port}/v1/models`;
  await expect(promisify(execFile)('curl', ['-sS', '--connect-to', '::127.0.0.1:', url])).rejects.toThrow(
    /self-signed/,
  );
  expect(await untilFailed(4)).toEqual({ failed: 4, latest: 'tlsv1 alert unknown ca' });
});

test('who connects and goes without a word, as a health check does, has not failed', async () => {
  await start();
  const socket = openPlain();
  await once(socket, 'connect');
  socket.end();
  await closed(socket);
  expect(await ask()).toContain('200 OK');
  expect(proxy.gateway.handshakes).toEqual({ failed: 0, latest: null });
});

test('a handshake has its time as a whole, whether nothing comes or byte after byte', async () => {
  await start({ handshakeMs: 300 });
  const silent = openPlain();
  const slow = openPlain();
  slow.write(Buffer.from([22, 3, 1, 2, 0]));
  const drip = setInterval(() => slow.write(Buffer.from([1])), 20);
  await Promise.all([closed(silent), closed(slow)]);
  clearInterval(drip);
  expect(await untilFailed(2)).toEqual({ failed: 2, latest: 'handshake timeout' });
  // An open connection has nothing to do with it any more.
  const kept = await shakeHands();
  await sleep(400);
  kept.write(get());
  expect(await readAll(kept)).toContain('200 OK');
});

test('beyond the limit on open handshakes the oldest gives way, so that a client that finishes its own is served', async () => {
  await start({ maxHandshakes: 3 });
  const silent = [openPlain(), openPlain(), openPlain()];
  while ((await countConnections()) < 3) await sleep(5);
  expect(await ask()).toContain('200 OK');
  while (silent[0]?.resume().destroyed !== true) await sleep(5);
  expect(silent.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
  expect(proxy.gateway.handshakes).toEqual({ failed: 1, latest: 'too many handshakes at once' });
});

test('where there are few places, those who only hold handshakes open get half of them', async () => {
  await start({ maxConnections: 4 });
  const silent = [openPlain(), openPlain(), openPlain()];
  while (silent[0]?.resume().destroyed !== true) await sleep(5);
  expect(await ask()).toContain('200 OK');
  expect(proxy.gateway.counters.droppedConnections).toBe(0);
});

test('connections beyond the limit are closed before any handshake', async () => {
  await start({ maxConnections: 4 });
  const first = await shakeHands();
  for (let further = 0; further < 3; further += 1) await shakeHands();
  await closed(openPlain());
  expect(proxy.gateway.counters.droppedConnections).toBe(1);
  first.destroy();
  while ((await countConnections()) > 3) await sleep(5);
  expect(await ask()).toContain('200 OK');
});

test('a client cannot ask for one handshake after the other on a connection', async () => {
  await start();
  const socket = await shakeHands({ maxVersion: 'TLSv1.2' });
  const refused = await new Promise<Error | null>((resolve) => {
    socket.on('error', resolve);
    socket.renegotiate({}, resolve);
  });
  expect(refused?.message).toMatch(/no renegotiation/i);
  expect(await ask()).toContain('200 OK');
});

test('after the handshake the head has its time as in plain HTTP', async () => {
  await start({ headersTimeoutMs: 100, checkIntervalMs: 20 });
  const socket = await shakeHands();
  socket.write('GET /v1/models HTTP/1.1\r\nHost: g\r\nX-Slo');
  expect(await readAll(socket)).toContain('request_timeout');
  // One that says nothing at all is no better.
  expect(await readAll(await shakeHands())).toContain('request_timeout');
  await noConnections();
});

test.each(['http/1.1', 'h2'])('a client of %s that reads nothing of an open answer is cut', async (protocol) => {
  await start({ stallMs: 100 });
  provider.setAnswer(() => buildAnswer({ framing: 'chunked', body: LARGE }));
  if (protocol === 'h2') {
    const session = keep(connectHttp2(`https://localhost:${proxy.port}`, { ca: OLD.cert }));
    keep(session.request({ ':path': '/v1/models', 'x-gateway-key': proxy.key }));
  } else {
    const socket = await shakeHands();
    socket.write(get());
    socket.pause();
  }
  await (await provider.waitForRequest(0)).closed;
  expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', errorType: 'client_stalled' });
});

test('what is left of a connection that is not read at all is cut by the listener', async () => {
  await start({ stalledMs: 100, stalledSweepMs: 20 });
  provider.setAnswer(() => buildAnswer({ framing: 'chunked', body: LARGE }));
  const socket = await shakeHands();
  socket.write(get());
  socket.pause();
  await (await provider.waitForRequest(0)).closed;
  await noConnections();
});

test('a client that closes its side has closed its call, and what is half closed does not stay', async () => {
  await start();
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  provider.setAnswer(() => [{ waitFor: go }, ...buildAnswer({ body: '{}' })]);
  const socket = keep(connectTcp({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true }));
  const secure = connect({ socket, servername: 'localhost', ca: OLD.cert });
  secure.on('error', () => {});
  await once(secure, 'secureConnect');
  secure.write(get());
  await provider.waitForRequest(0);
  secure.end();
  await noConnections();
  letGo();
  expect((await proxy.lastCall()).end.outcome).toBe('client_closed');
});

test('an answer of HTTP/1.0 that is cut is reset, since a close would look like its end', async () => {
  await start();
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n' },
    { reset: true },
  ]);
  const socket = await shakeHands();
  socket.write(`GET /v1/models HTTP/1.0\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`);
  const failed = once(socket, 'error');
  socket.resume();
  expect(Object(await failed)[0].code).toBe('ECONNRESET');
});

test('a session is taken up again, also by another process with the same ticket keys', async () => {
  await start();
  const other = await startProxy(provider.origin, {}, {}, DEFAULT_LIMITS, undefined, {}, identityOf(OLD));
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    let ticket: Buffer = Buffer.alloc(0);
    const first = await shakeHands({ maxVersion }, (session) => {
      ticket = session;
    });
    first.write(get());
    await readAll(first);
    const second = await shakeHands({ maxVersion, session: ticket, port: other.port });
    expect([maxVersion, second.isSessionReused()]).toEqual([maxVersion, true]);
    second.destroy();
  }
  await other.close();
});

test('a renewed certificate is shown to new connections, and open ones go on: HTTP/1.1 and HTTP/2 streams', async () => {
  await start();
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  provider.setAnswer(() => [
    { write: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n' },
    { waitFor: go },
    { write: '6\r\n world\r\n0\r\n\r\n' },
  ]);
  const sockets = await Promise.all(Array.from({ length: 50 }, () => shakeHands()));
  const answers = sockets.map((socket) => {
    socket.write(get());
    return readAll(socket);
  });
  const session = keep(connectHttp2(`https://localhost:${proxy.port}`, { ca: OLD.cert }));
  const streams = Array.from({ length: 50 }, () =>
    readHttp2Answer(session, { path: '/v1/models', headers: ['x-gateway-key', proxy.key] }),
  );
  await provider.waitForRequest(99);
  proxy.renewTls(identityOf(NEW));
  await expect(shakeHands({ ca: OLD.cert })).rejects.toThrow('self-signed certificate');
  await shakeHands({ ca: NEW.cert });
  letGo();
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n$/);
  for (const { end, body } of await Promise.all(streams))
    expect([end, body.toString()]).toEqual(['complete', 'hello world']);
});
