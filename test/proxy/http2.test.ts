import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../fake-provider.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const MESSAGE =
  'This port speaks HTTP/1.1. For the AWS SDK for JavaScript pass `requestHandler: new NodeHttpHandler()`.';
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const SETTINGS_FRAME = Buffer.from('000000040000000000', 'hex');
/** Opens stream 1; what is in it is not looked at. */
const HEADERS_FRAME = Buffer.from('00000101050000000182', 'hex');

let provider: ScriptedProvider;
let proxy: InProcessProxy;
beforeAll(async () => {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

test('a request over HTTP/2 gets the refusal as its answer, with the headers by which SDKs show it', async () => {
  const session = connectHttp2(`http://127.0.0.1:${proxy.port}`);
  const stream = session.request({ ':method': 'POST', ':path': '/model/x/converse', 'x-gateway-key': proxy.key });
  stream.end('{}');
  const head = new Promise<object>((resolve) => stream.once('response', (headers) => resolve({ ...headers })));
  const body = await json(stream);
  expect(await head).toMatchObject({
    ':status': 505,
    'content-type': 'application/json',
    'x-gateway-error': 'http2_unsupported',
    'x-amzn-errortype': 'InternalServerException',
    'x-should-retry': 'false',
  });
  expect(body).toMatchObject({ type: 'error', message: MESSAGE, error: { message: MESSAGE } });
  session.close();
  expect(provider.requests).toEqual([]);
});

/** All that comes on a connection that sends these pieces a little apart. */
function send(pieces: readonly Buffer[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(proxy.port, '127.0.0.1');
    let text = '';
    socket.setEncoding('latin1').on('data', (part) => {
      text += part;
    });
    socket.on('error', reject).on('close', () => resolve(text));
    pieces.forEach((piece, index) => {
      setTimeout(() => socket.write(piece), index * 20);
    });
  });
}

test('the beginning of HTTP/2 may come cut at every byte', async () => {
  const bytes = Buffer.concat([PREFACE, SETTINGS_FRAME, HEADERS_FRAME]);
  const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
  const answers = await Promise.all(cuts.map((cut) => send([bytes.subarray(0, cut), bytes.subarray(cut)])));
  for (const [index, answer] of answers.entries())
    expect(answer, `cut at ${index + 1}`).toContain(`"message":"${MESSAGE}"`);
});

test('a client that sends no request is sent away with HTTP_1_1_REQUIRED', async () => {
  const answer = await send([PREFACE, SETTINGS_FRAME]);
  const goAway = '\x00\x00\x00\x00\x00\x00\x00\x0dThis port speaks HTTP/1.1.';
  expect(answer).toContain(goAway);
});

test('frames without end that open no stream are not kept', async () => {
  const endless = Buffer.from('ffffff040000000000', 'hex');
  const answer = await send([PREFACE, endless, Buffer.alloc(70_000)]);
  expect(answer).toContain('This port speaks HTTP/1.1.');
});
