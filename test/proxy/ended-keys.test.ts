/** What becomes of open calls when their key is revoked or expires. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { digestKey } from '../../src/keys/gateway-key.ts';
import { applyKeyChange } from '../../src/keys/key-snapshot.ts';
import { endCallsOfEndedKeys, watchKeys } from '../../src/proxy/key-end.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';
import { SWITCH, startRawProvider, startWebsocketProvider, writeFrame } from './websocket-provider.ts';

const TEXT = 1;
const open: { close: () => Promise<void> }[] = [];
const sockets: Socket[] = [];
let provider: ScriptedProvider;

beforeEach(async () => {
  provider = await startScriptedProvider();
  open.push(provider);
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const each of open.splice(0).reverse()) await each.close();
});

async function openProxy(origin: string, settings: Parameters<typeof startProxy>[1] = {}): Promise<InProcessProxy> {
  const proxy = await startProxy(origin, settings);
  open.push(proxy);
  return proxy;
}

/** As the control process publishes it. */
function change({ gateway, key }: InProcessProxy, to: { revoked?: boolean; expiresAtMs?: number }): void {
  const { snapshot } = gateway.keys;
  const entry = snapshot?.keys.get(digestKey(key));
  if (snapshot === null || entry === undefined) throw new Error('no key');
  const { version } = snapshot;
  const next = applyKeyChange(snapshot, {
    baseVersion: version,
    version: version + 1,
    upserts: [{ ...entry, ...to }],
  });
  if (next === 'reload') throw new Error('not applied');
  gateway.keys.snapshot = next;
}

function revoke(proxy: InProcessProxy): void {
  change(proxy, { revoked: true });
  endCallsOfEndedKeys(proxy.gateway);
}

async function until(what: string, holds: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function send(
  proxy: InProcessProxy,
  head: readonly string[],
  body = '',
): { readonly text: () => string; socket: Socket } {
  const socket = connect(proxy.port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const lines = [...head, 'Host: gateway', `X-Gateway-Key: ${proxy.key}`, 'Content-Type: application/json'];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  return { text: () => text, socket };
}

const BODY = '{"model":"gpt-x","stream":true}';
const CALL = ['POST /v1/chat/completions HTTP/1.1', `Content-Length: ${BODY.length}`];
const EVENT = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n';
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

test('a websocket whose key is revoked is closed with a reason, and what its client says then reaches nobody', async () => {
  const heard: string[] = [];
  const websockets = await startWebsocketProvider((session) => {
    session.on('message', (data) => {
      heard.push(String(data));
      session.send(`echo ${String(data)}`);
    });
  });
  open.push(websockets);
  const proxy = await openProxy(websockets.origin);
  const client = new WebSocket(`ws://127.0.0.1:${proxy.port}/v1/realtime?model=m`, {
    headers: { 'x-gateway-key': proxy.key, 'x-gateway-provider': 'openai' },
  });
  const echoes: string[] = [];
  client.on('message', (data) => echoes.push(String(data)));
  const closed = new Promise((resolve) => client.once('close', (code, reason) => resolve([code, String(reason)])));
  await new Promise((resolve) => client.once('open', resolve));
  client.send('before');
  await until('the echo', () => echoes.length === 1);
  revoke(proxy);
  client.send('after');
  expect(await closed).toEqual([1008, 'the gateway key was revoked']);
  expect(heard).toEqual(['before']);
  await until('the provider is rid of it', () => websockets.sessions[0]?.readyState === WebSocket.CLOSED);
  expect((await proxy.lastCall()).end).toMatchObject({
    status: 101,
    outcome: 'shutdown_cut',
    errorType: 'key_revoked',
    errorMessage: 'The gateway key was revoked while the call was open, and the call was cut.',
  });
});

test('a frame of the provider that is under way is finished before the client is told', async () => {
  const frame = writeFrame(TEXT, Buffer.from('x'.repeat(300)));
  const raw = await startRawProvider((socket) =>
    socket.write(Buffer.concat([Buffer.from(SWITCH), frame.subarray(0, 9)])),
  );
  open.push(raw);
  const proxy = await openProxy(raw.origin);
  const text = send(proxy, [
    'GET /v1/realtime?model=m HTTP/1.1',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'X-Gateway-Provider: openai',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ]);
  await until('half a frame has come', () => /\r\n\r\n[\s\S]{9}$/.test(text.text()));
  revoke(proxy);
  raw.sockets.at(-1)?.write(Buffer.concat([frame.subarray(9), writeFrame(TEXT, Buffer.from('after'))]));
  await until('it is closed', () => text.socket.readableEnded || text.socket.destroyed);
  expect(text.text()).toMatch(/x{300}[\s\S]{4}the gateway key was revoked$/);
});

test('a stream whose key is revoked is cut, and the provider with it', async () => {
  provider.setAnswer(() => [
    {
      write: `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(EVENT)}`,
    },
    { waitMs: 60_000 },
  ]);
  const proxy = await openProxy(provider.origin);
  const answer = send(proxy, CALL, BODY);
  await until('the first event has come', () => answer.text().includes('"a"'));
  revoke(proxy);
  await until('it is cut', () => answer.socket.readableEnded || answer.socket.destroyed);
  expect(answer.text()).not.toContain('0\r\n\r\n');
  await (await provider.waitForRequest(0)).closed;
  expect((await proxy.lastCall()).end).toMatchObject({
    status: 200,
    outcome: 'shutdown_cut',
    errorType: 'key_revoked',
  });
});

/** An answer that is no stream, half sent; with `finish` the rest of it. */
async function halfAnswer(onRevoke: 'finish' | 'cut') {
  let finish: () => void = () => {};
  const raw = await startRawProvider((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"a"');
    finish = () => socket.write(':1} ');
  });
  open.push(raw);
  const proxy = await openProxy(raw.origin, { onRevoke });
  const answer = send(proxy, CALL, BODY);
  await until('half of it has come', () => answer.text().includes('{"a"'));
  return { proxy, answer, finish: () => finish() };
}

test('any other answer is finished, unless the operator wants it cut', async () => {
  const kept = await halfAnswer('finish');
  revoke(kept.proxy);
  kept.finish();
  await until('it is whole', () => kept.answer.text().endsWith('{"a":1} '));
  expect((await kept.proxy.lastCall()).end).toMatchObject({ status: 200, outcome: 'ok' });
  const cut = await halfAnswer('cut');
  revoke(cut.proxy);
  await until('it is cut', () => cut.answer.socket.readableEnded || cut.answer.socket.destroyed);
  expect((await cut.proxy.lastCall()).end).toMatchObject({ outcome: 'shutdown_cut', errorType: 'key_revoked' });
});

test('with `cut`, who waits for an answer that has not begun is told why there is none', async () => {
  provider.setAnswer(() => [{ waitMs: 60_000 }]);
  const proxy = await openProxy(provider.origin, { onRevoke: 'cut' });
  const answer = send(proxy, CALL, BODY);
  await provider.waitForRequest(0);
  revoke(proxy);
  await until('it is refused', () => answer.text().includes('\r\n\r\n'));
  expect(answer.text()).toMatch(/^HTTP\/1.1 401 [\s\S]*X-Gateway-Error: key_revoked/i);
  expect((await proxy.lastCall()).end).toMatchObject({
    status: 401,
    outcome: 'shutdown_cut',
    errorType: 'key_revoked',
  });
});

test('a stream ends when its key expires, without anybody doing anything', async () => {
  provider.setAnswer(() => [
    {
      write: `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(EVENT)}`,
    },
    { waitMs: 60_000 },
  ]);
  const proxy = await openProxy(provider.origin);
  const stopWatching = watchKeys(proxy.gateway);
  try {
    const answer = send(proxy, CALL, BODY);
    await until('the first event has come', () => answer.text().includes('"a"'));
    change(proxy, { expiresAtMs: Date.now() + 50 });
    await until('it is cut', () => answer.socket.readableEnded || answer.socket.destroyed);
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'shutdown_cut', errorType: 'key_expired' });
  } finally {
    stopWatching();
  }
});

test('a request whose key is revoked while its body comes is not forwarded', async () => {
  const proxy = await openProxy(provider.origin);
  const answer = send(proxy, CALL, BODY.slice(0, 5));
  await until('it is being received', () => proxy.gateway.counters.calls === 1);
  change(proxy, { revoked: true });
  answer.socket.write(BODY.slice(5));
  await until('it is refused', () => answer.text().includes('\r\n\r\n'));
  expect(answer.text()).toMatch(/^HTTP\/1.1 401 [\s\S]*X-Gateway-Error: key_revoked/i);
  expect(provider.requests).toHaveLength(0);
});

test('calls of other keys go on', async () => {
  provider.setAnswer(() => [
    {
      write: `HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${chunk(EVENT)}`,
    },
    { waitMs: 100 },
    { write: `${chunk('data: [DONE]\n\n')}0\r\n\r\n` },
  ]);
  const proxy = await openProxy(provider.origin);
  const answer = send(proxy, CALL, BODY);
  await until('the first event has come', () => answer.text().includes('"a"'));
  endCallsOfEndedKeys(proxy.gateway);
  await until('it is whole', () => answer.text().endsWith('0\r\n\r\n'));
});
