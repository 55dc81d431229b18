/**
 * Websockets through the proxy: the handshake, the bytes of both directions, refusals, and every way in which a
 * connection ends. What is read of them is in `websocket-metering.test.ts`.
 */
import { connect, type Socket } from 'node:net';
import { constants, deflateRawSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';
import { type RawProvider, SWITCH, startRawProvider, writeFrame } from './websocket-provider.ts';

const open: { close: () => Promise<void> }[] = [];

async function start(
  onHead: (socket: Socket, head: string) => void,
): Promise<{ provider: RawProvider; proxy: InProcessProxy }> {
  const provider = await startRawProvider(onHead);
  const proxy = await startProxy(provider.origin);
  open.push(proxy, provider);
  return { provider, proxy };
}

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function handshake(key: string, target = '/v1/realtime?model=gpt-realtime', more = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: gateway.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nsec-websocket-KEY: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nX-Gateway-Key: ${key}\r\nX-Gateway-Feature: chat\r\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.CANARY-1\r\nAuthorization: Bearer CANARY-2\r\n${more}\r\n`;
}

interface RawClient {
  readonly socket: Socket;
  readonly received: () => Buffer;
  readonly receivedBytes: () => number;
  readonly ended: Promise<void>;
}

function openClient(port: number, bytes: string | Buffer): RawClient {
  const parts: Buffer[] = [];
  let receivedBytes = 0;
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    parts.push(chunk);
    receivedBytes += chunk.length;
  });
  socket.write(bytes);
  return {
    socket,
    received: () => Buffer.concat(parts),
    receivedBytes: () => receivedBytes,
    ended: new Promise((resolve) => socket.once('end', () => resolve())),
  };
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What came behind the head. */
function behindHead(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.indexOf('\r\n\r\n') + 4);
}

const TEXT = 0x1;
const BINARY = 0x2;
const CONTINUATION = 0x0;
const CLOSE = 0x8;
const PING = 0x9;
const PONG = 0xa;
/** The first reserved bit (RFC 7692 7.2.1). */
const COMPRESSED = 0x40;

/** One of every kind; what a client sends is masked. */
function everyFrame(masked: boolean): Buffer {
  return Buffer.concat([
    writeFrame(TEXT, Buffer.from('{"type":"session.update"}'), { masked }),
    writeFrame(BINARY, Buffer.from([0, 1, 2, 255]), { masked }),
    writeFrame(TEXT, Buffer.from('{"a":'), { masked, fin: false }),
    writeFrame(PING, Buffer.from('are you there'), { masked }),
    writeFrame(CONTINUATION, Buffer.from('"b"}'), { masked }),
    writeFrame(PONG, Buffer.from('are you there'), { masked }),
    writeFrame(TEXT, Buffer.alloc(40_000, 'x'), { masked }),
    writeFrame(CLOSE, Buffer.concat([Buffer.from([0x0f, 0xa1]), Buffer.from('done')]), { masked }),
  ]);
}

test('a websocket passes byte for byte: the handshake less this hop, then the frames of both sides', async () => {
  const { provider, proxy } = await start((socket) => {
    socket.write(Buffer.concat([Buffer.from(SWITCH, 'latin1'), everyFrame(false)]));
    socket.on('end', () => socket.end());
  });
  const client = openClient(proxy.port, Buffer.concat([Buffer.from(handshake(proxy.key)), everyFrame(true)]));
  await until('all frames have come', () => behindHead(client.received()).length >= everyFrame(false).length);
  client.socket.end();
  await client.ended;
  const sent = provider.received().toString('latin1');
  expect(sent.slice(0, sent.indexOf('\r\n\r\n') + 4)).toBe(
    `GET /v1/realtime?model=gpt-realtime HTTP/1.1\r\nHost: ${new URL(provider.origin).host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nsec-websocket-KEY: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: realtime, openai-insecure-api-key.CANARY-1\r\nAuthorization: Bearer CANARY-2\r\n\r\n`,
  );
  expect(behindHead(provider.received()).equals(everyFrame(true))).toBe(true);
  const { begin, end } = await proxy.lastCall();
  const got = client.received().toString('latin1');
  expect(got.slice(0, got.indexOf('\r\n\r\n') + 4)).toBe(
    `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nX-Session: 7\r\nX-Gateway-Request-Id: ${begin.id}\r\n\r\n`,
  );
  expect(behindHead(client.received()).equals(everyFrame(false))).toBe(true);
  expect(begin).toMatchObject({
    method: 'GET',
    endpoint: 'realtime',
    streamed: true,
    billed: true,
    modelRequested: 'gpt-realtime',
    metadata: [['Feature', 'chat']],
  });
  expect(end).toMatchObject({
    status: 101,
    usageSource: 'none',
    requestBytes: everyFrame(true).length,
    responseBytes: everyFrame(false).length,
  });
  const written = JSON.stringify(await proxy.entries());
  expect(written).not.toContain('CANARY');
  expect(written).not.toContain(proxy.key);
});

test('what a client sends before the provider has agreed arrives once it has', async () => {
  let agree = (): void => {};
  const { provider, proxy } = await start((socket) => {
    agree = () => socket.write(SWITCH);
  });
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('the handshake has arrived', () => provider.received().includes('\r\n\r\n'));
  const early = writeFrame(TEXT, Buffer.alloc(60_000, 'e'), { masked: true });
  for (let count = 0; count < 5; count += 1) client.socket.write(early);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(behindHead(provider.received()).length).toBe(0);
  agree();
  const all = Buffer.concat([early, early, early, early, early]);
  await until('all has arrived', () => behindHead(provider.received()).length >= all.length);
  expect(behindHead(provider.received()).equals(all)).toBe(true);
  client.socket.destroy();
  expect((await proxy.lastCall()).end.outcome).toBe('client_closed');
});

test.each(['provider', 'client'])('a %s that does not read makes the other side wait', async (slow) => {
  let side: Socket | undefined;
  const { provider, proxy } = await start((socket) => {
    side = socket;
    socket.write(SWITCH);
    if (slow === 'provider') socket.pause();
  });
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('it is switched', () => client.received().includes('\r\n\r\n'));
  const receivedBytes = slow === 'provider' ? provider.receivedBytes : client.receivedBytes;
  const heads = receivedBytes();
  const [sender, reader] = slow === 'provider' ? [client.socket, side] : [side, client.socket];
  if (slow === 'client') client.socket.pause();
  const frame = writeFrame(BINARY, Buffer.alloc(60_000, 0x5a), { masked: slow === 'provider' });
  const chunk = Buffer.concat(Array.from({ length: 16 }, () => frame));
  const total = 32 * chunk.length;
  for (let count = 0; count < 32; count += 1) sender?.write(chunk);
  // Until nothing moves any more.
  let before = -1;
  while (before !== sender?.writableLength) {
    before = sender?.writableLength ?? 0;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  // The kernel's buffers of two connections hold some; the proxy does not hold the rest.
  expect(total - before).toBeLessThan(total / 2);
  reader?.resume();
  await until('all has arrived', () => receivedBytes() - heads === total);
  client.socket.destroy();
  await proxy.lastCall();
});

test('a refusal passes as the answer it is, and what came behind the request goes nowhere', async () => {
  const body = '{"error":{"message":"bad key","type":"auth_error"}}';
  const { provider, proxy } = await start((socket) => {
    socket.write(
      'HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nx-request-id: req_1\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    socket.write(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
  });
  const behind = `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`;
  const client = openClient(proxy.port, handshake(proxy.key) + behind);
  await client.ended;
  client.socket.end();
  const got = client.received().toString();
  expect(got.startsWith('HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nx-request-id: req_1\r\n')).toBe(
    true,
  );
  expect(got).toContain(body);
  expect(got.match(/HTTP\/1\.1/g)).toHaveLength(1);
  expect(behindHead(provider.received()).length).toBe(0);
  expect(provider.sockets).toHaveLength(1);
  expect((await proxy.lastCall()).end).toMatchObject({
    status: 401,
    outcome: 'upstream_error',
    errorType: 'auth_error',
    errorMessage: 'bad key',
    providerRequestId: 'req_1',
  });
});

test('an ordinary success instead of 101 passes too, and closes the connection', async () => {
  const { provider, proxy } = await start((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const client = openClient(proxy.port, `${handshake(proxy.key)}GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n`);
  await client.ended;
  client.socket.end();
  expect(client.received().toString()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/);
  expect(behindHead(provider.received()).length).toBe(0);
  expect((await proxy.lastCall()).end).toMatchObject({ status: 200, outcome: 'ok' });
});

test('a provider that cannot be reached is a 502, one that hangs up a 502 as well', async () => {
  const { proxy } = await start((socket) => socket.destroy());
  const cut = await readRawAnswer('127.0.0.1', proxy.port, handshake(proxy.key));
  expect(cut.status).toBe(502);
  expect((await proxy.lastCall()).end).toMatchObject({ status: 502, outcome: 'upstream_unreachable' });
  const nowhere = await startProxy('http://127.0.0.1:1');
  open.push(nowhere);
  const refused = await readRawAnswer('127.0.0.1', nowhere.port, handshake(nowhere.key));
  expect(refused.status).toBe(502);
  expect(refused.body.toString()).toContain('could not be reached');
});

test.each([
  ['/v1/chat/completions', 'openai'],
  ['/v1/realtime', 'anthropic'],
  ['/v1/realtime', 'fireworks'],
  ['/model/x/invoke', 'bedrock'],
])('a websocket on %s of %s is answered 426 at once', async (target, name) => {
  const { provider, proxy } = await start(() => {});
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    handshake(proxy.key, target, `X-Gateway-Provider: ${name}\r\n`),
  );
  expect(answer.status).toBe(426);
  expect(answer.rawHeaders).toContain('Upgrade');
  expect(answer.rawHeaders).toContain('HTTP/1.1');
  expect(JSON.parse(answer.body.toString())).toMatchObject({
    error: { type: 'invalid_request_error', code: 'upgrade_unsupported' },
  });
  expect(provider.sockets).toHaveLength(0);
  expect((await proxy.lastCall().catch(() => null))?.end.outcome ?? 'rejected').toBe('rejected');
});

test('a websocket without a key, with a body, or of another method is refused', async () => {
  const { provider, proxy } = await start(() => {});
  const status = async (text: string): Promise<number> => (await readRawAnswer('127.0.0.1', proxy.port, text)).status;
  expect(await status(handshake('').replace('X-Gateway-Key: \r\n', ''))).toBe(401);
  expect(await status(`${handshake(proxy.key, undefined, 'Content-Length: 3\r\n')}abc`)).toBe(400);
  expect(await status(handshake(proxy.key).replace('GET', 'DELETE'))).toBe(426);
  expect(provider.sockets).toHaveLength(0);
});

test('an offer of another protocol is left unanswered', async () => {
  const { provider, proxy } = await start((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: foo\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
  );
  expect(answer.status).toBe(200);
  expect(provider.received().toString()).not.toMatch(/upgrade/i);
});

test('a provider that cuts the connection breaks the client’s', async () => {
  const { provider, proxy } = await start((socket) => socket.write(SWITCH));
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('it is switched', () => client.received().includes('\r\n\r\n'));
  provider.sockets[0]?.resetAndDestroy();
  await client.ended;
  expect((await proxy.lastCall()).end).toMatchObject({ status: 101, outcome: 'upstream_truncated' });
});

test('a client that goes away ends the provider’s connection at once', async () => {
  const { provider, proxy } = await start((socket) => socket.write(SWITCH));
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('it is switched', () => client.received().includes('\r\n\r\n'));
  const closed = new Promise((resolve) => provider.sockets[0]?.once('end', resolve));
  client.socket.end();
  await closed;
  expect((await proxy.lastCall()).end).toMatchObject({ status: 101, outcome: 'client_closed' });
});

test.each(['ends too', 'resets'])(
  'a client that goes away with its last message still being decompressed has gone first, when the provider %s',
  async (how) => {
    const { proxy } = await start((socket) => {
      socket.write(SWITCH.replace('X-Session: 7', 'Sec-WebSocket-Extensions: permessage-deflate'));
      socket.on('end', () => (how === 'ends too' ? socket.end() : socket.resetAndDestroy()));
    });
    const offer = 'Sec-WebSocket-Extensions: permessage-deflate\r\n';
    const client = openClient(proxy.port, handshake(proxy.key, undefined, offer));
    await until('it is switched', () => client.received().includes('\r\n\r\n'));
    // Millions of bytes, which take a while; and no close frame behind them.
    const packed = deflateRawSync(Buffer.alloc(3_000_000, '{"type":"x"}'), { finishFlush: constants.Z_SYNC_FLUSH });
    client.socket.end(writeFrame(COMPRESSED | TEXT, packed.subarray(0, -4), { masked: true }));
    expect((await proxy.lastCall()).end).toMatchObject({ status: 101, outcome: 'client_closed' });
  },
);

test('a client that goes away before the provider has answered is written down so', async () => {
  const { provider, proxy } = await start(() => {});
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('the handshake has arrived', () => provider.received().includes('\r\n\r\n'));
  client.socket.destroy();
  expect((await proxy.lastCall()).end).toMatchObject({ status: null, outcome: 'client_closed' });
  await until(
    'the provider’s connection is closed',
    () => provider.sockets[0]?.readableEnded === true || provider.sockets[0]?.destroyed === true,
  );
});

test('when the gateway stops, open connections are cut, and written down so', async () => {
  const { provider, proxy } = await start((socket) => socket.write(SWITCH));
  const client = openClient(proxy.port, handshake(proxy.key));
  await until('it is switched', () => client.received().includes('\r\n\r\n'));
  expect(proxy.gateway.openCalls.size).toBe(1);
  for (const call of proxy.gateway.openCalls) call.shutDown();
  await client.ended;
  expect((await proxy.lastCall()).end).toMatchObject({ status: 101, outcome: 'shutdown_cut' });
  expect(proxy.gateway.openCalls.size).toBe(0);
  await until(
    'the provider’s connection is closed',
    () => provider.sockets[0]?.readableEnded === true || provider.sockets[0]?.destroyed === true,
  );
});

test('a handshake behind a request that has no answer yet closes the connection', async () => {
  const { provider, proxy } = await start(() => {});
  const client = openClient(
    proxy.port,
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n${handshake(proxy.key)}`,
  );
  await client.ended;
  expect(client.received().length).toBe(0);
  expect(provider.received().toString()).not.toContain('realtime');
});
