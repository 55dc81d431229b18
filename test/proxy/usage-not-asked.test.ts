import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { HELD_BODIES_BYTES } from '../../src/proxy/gateway.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const MIB = 1024 * 1024;
const STREAM = 'data: {"id":"x","model":"gpt-x","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () => buildAnswer({ headers: [['Content-Type', 'text/event-stream']], framing: 'chunked', body: STREAM }),
  });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

async function send(body: Buffer, headers: readonly string[] = []) {
  const seen = provider.requests.length;
  const head = [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: gateway',
    `X-Gateway-Key: ${proxy.key}`,
    'Content-Type: application/json',
    ...headers,
    '',
    '',
  ];
  const answer = await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(head.join('\r\n')), body]));
  const request = await provider.waitForRequest(seen);
  return { answer, sent: request.body(), call: await proxy.lastCall() };
}

/** A stream request whose content is so long. */
function streamRequest(contentBytes: number): Buffer {
  return Buffer.from(
    `{"model":"gpt-x","stream":true,"messages":[{"role":"user","content":"${'y'.repeat(contentBytes)}"}]}`,
  );
}

test('a body of 40 MiB passes as it is, and the record says that usage was not asked for', async () => {
  const body = streamRequest(40 * MIB);
  const { answer, sent, call } = await send(body, [`Content-Length: ${body.length}`]);
  expect(sent.equals(body)).toBe(true);
  expect(answer.body.toString()).toBe(STREAM);
  expect(call.end).toMatchObject({ outcome: 'ok', flags: ['usage_not_asked'], usage: null, usageSource: 'none' });
  expect(call.end).toMatchObject({ modelRequested: 'gpt-x', streamed: true, requestBytes: body.length });
});

test('a body of 40 MiB in chunks, of unknown length, is the same', async () => {
  const body = streamRequest(40 * MIB);
  const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const { answer, sent, call } = await send(chunked, ['Transfer-Encoding: chunked']);
  expect(sent.equals(body)).toBe(true);
  expect(answer.body.toString()).toBe(STREAM);
  expect(call.end).toMatchObject({ flags: ['usage_not_asked'], modelRequested: 'gpt-x', streamed: true });
});

test('a gzip body passes as it is, and the record says that usage was not asked for', async () => {
  const body = gzipSync(streamRequest(100));
  const { answer, sent, call } = await send(body, [`Content-Length: ${body.length}`, 'Content-Encoding: gzip']);
  expect(sent.equals(body)).toBe(true);
  expect(answer.body.toString()).toBe(STREAM);
  expect(call.end).toMatchObject({ outcome: 'ok', flags: ['usage_not_asked'], usage: null });
});

test('a body of 20 MiB is asked for, byte for byte but for the option', async () => {
  const body = streamRequest(20 * MIB);
  const { sent, call } = await send(body, [`Content-Length: ${body.length}`]);
  const option = Buffer.from('"stream_options":{"include_usage":true},');
  expect(sent.equals(Buffer.concat([body.subarray(0, 1), option, body.subarray(1)]))).toBe(true);
  expect(call.end.flags).toEqual(['usage_asked']);
});

/** Whether less than `bytes` of the room for held bodies is taken. */
function hasRoomBut(bytes: number): boolean {
  const { heldBodies } = proxy.gateway;
  if (!heldBodies.take(HELD_BODIES_BYTES - bytes)) return false;
  heldBodies.give(HELD_BODIES_BYTES - bytes);
  return true;
}

test('what is held of a body counts until its call is over, and not a byte of it afterwards', async () => {
  const body = streamRequest(4 * MIB);
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  const seen = provider.requests.length;
  provider.setAnswer(() => [{ waitFor: go }, ...buildAnswer({ body: '{}' })]);
  const sent = send(body, [`Content-Length: ${body.length}`]);
  const request = await provider.waitForRequest(seen);
  while (request.body().length <= body.length) await new Promise((resolve) => setTimeout(resolve, 5));
  // The body, and the copy of it that asks.
  expect([hasRoomBut(7 * MIB), hasRoomBut(8 * MIB)]).toEqual([false, true]);
  letGo();
  await sent;
  expect(hasRoomBut(0)).toBe(true);
});

test('where there is room for a body and none for its copy, usage is not asked for', async () => {
  const body = streamRequest(4 * MIB);
  const { heldBodies } = proxy.gateway;
  provider.setAnswer(() => buildAnswer({ body: '{}' }));
  heldBodies.take(HELD_BODIES_BYTES - 5 * MIB);
  const { sent, call } = await send(body, [`Content-Length: ${body.length}`]);
  heldBodies.give(HELD_BODIES_BYTES - 5 * MIB);
  expect(sent.equals(body)).toBe(true);
  expect(call.end.flags).toContain('usage_not_asked');
  expect(hasRoomBut(0)).toBe(true);
});

test('a body of unknown length that turns out too large counts until what was held has gone on', async () => {
  const { promise: go, resolve: letGo } = Promise.withResolvers<void>();
  provider.setAnswer(() => [{ waitFor: go }, ...buildAnswer({ body: '{}' })]);
  const body = streamRequest(40 * MIB);
  const chunked = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const seen = provider.requests.length;
  const sent = send(chunked, ['Transfer-Encoding: chunked']);
  const request = await provider.waitForRequest(seen);
  while (request.body().length < body.length) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(hasRoomBut(0)).toBe(true);
  letGo();
  await sent;
  expect(hasRoomBut(0)).toBe(true);
});
