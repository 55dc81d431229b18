import { expect, test } from 'vitest';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { startScriptedProvider } from '../fake-provider.ts';
import { buildAnswer } from '../scripted-answer.ts';
import { callOnce } from './upstream-driver.ts';
import { SWITCH, startRawProvider, writeFrame } from './websocket-provider.ts';

test('with an egress proxy calls are sent to it, except those to hosts that need none', async () => {
  const provider = await startScriptedProvider();
  const proxy = await startScriptedProvider();
  const client = await createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: '127.0.0.1' });
  try {
    const body = Buffer.from('{"a":1}');
    const origin = 'http://provider.test:8080';
    const through = await callOnce(client, { origin, method: 'POST', path: '/x?a', headers: ['X-b', '1'], body });
    expect(through).toMatchObject({ status: 200, body: '{}', failure: null });
    const seen = await proxy.waitForRequest(0);
    expect(seen.requestLine).toBe('POST http://provider.test:8080/x?a HTTP/1.1');
    expect(seen.body().toString()).toBe('{"a":1}');
    expect(seen.rawHeaders).toContain('X-b');
    const host = 'bedrock-runtime.eu-west-1.amazonaws.com';
    await callOnce(client, { origin, host, path: '/z' });
    const named = await proxy.waitForRequest(1);
    expect([named.requestLine, named.header('host')]).toEqual(['GET http://provider.test:8080/z HTTP/1.1', host]);
    proxy.setAnswer(() => buildAnswer({ framing: 'chunked', body: 'ab', trailers: [['X-sum', 'caf\u00e9']] }));
    const withTrailers = await callOnce(client, { origin, path: '/t', takesTrailers: true });
    expect(withTrailers).toMatchObject({ body: 'ab', rawTrailers: ['X-sum', 'caf\u00e9'] });
    expect((await callOnce(client, { origin: provider.origin, path: '/y' })).status).toBe(200);
    expect((await provider.waitForRequest(0)).requestLine).toBe('GET /y HTTP/1.1');
  } finally {
    await client.close();
    await proxy.close();
    await provider.close();
  }
});

test.each([
  [SWITCH, 'switched hello'],
  ['HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno', '403 no'],
])('with an egress proxy a websocket handshake goes through it: %#', async (answer, expected) => {
  const frame = answer === SWITCH ? writeFrame(1, Buffer.from('hello')) : Buffer.alloc(0);
  const proxy = await startRawProvider((socket) => {
    socket.write(Buffer.concat([Buffer.from(answer), frame]));
  });
  const client = await createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: null });
  const outcome = await new Promise((resolve, reject) => {
    let text = '';
    client.upgrade(
      {
        origin: 'http://provider.test:8080',
        mayBePrivate: false,
        method: 'GET',
        path: '/v1/realtime?model=m',
        headers: ['Sec-WebSocket-Key', 'dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version', '13'],
        body: null,
        bodyBytes: null,
      },
      {
        onConnection() {},
        onTrailers() {},
        onHead: (status) => {
          text = `${status} `;
        },
        onData: (chunk) => {
          text += chunk.toString();
        },
        onEnd: () => resolve(text),
        onFailure: ({ cause }) => reject(cause),
        onSwitch: (_reason, rawHeaders, socket, rest) => {
          expect(rawHeaders).toContain('Sec-WebSocket-Accept');
          expect(rest.length).toBe(0);
          socket.once('data', (chunk: Buffer) => {
            socket.destroy();
            resolve(`switched ${chunk.subarray(2).toString()}`);
          });
        },
      },
    );
  });
  expect(outcome).toBe(expected);
  const sent = proxy.received().toString();
  expect(sent).toContain('GET http://provider.test:8080/v1/realtime?model=m HTTP/1.1\r\n');
  expect(sent).toMatch(/upgrade: websocket\r\n/i);
  expect(sent).toContain('Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n');
  await client.close();
  await proxy.close();
});
