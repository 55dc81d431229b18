import { once } from 'node:events';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { startEgressProxy } from '../support/egress-proxy.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { makeCertificate } from './make-certificate.ts';
import { callOnce, startCall, TEST_LIMITS } from './upstream-driver.ts';
import { SWITCH, startRawProvider, writeFrame } from './websocket-provider.ts';

test('with an egress proxy calls are sent to it, except those to hosts that need none', async () => {
  const provider = await startScriptedProvider();
  const proxy = await startScriptedProvider();
  const client = createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: '127.0.0.1' });
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
  const client = createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: null });
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
          if (rest.length > 0) socket.unshift(rest);
          socket.on('error', reject);
          socket.once('data', (chunk: Buffer) => {
            socket.destroy();
            resolve(`switched ${chunk.subarray(2).toString()}`);
          });
          socket.resume();
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

describe('to a provider with TLS', () => {
  const pair = makeCertificate();
  const defaults = getCACertificates('default');
  const provider = createTlsServer({ ...pair, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (/^upgrade: websocket/im.test(bytes.toString('latin1'))) {
        socket.write(`${SWITCH}hello`);
        return;
      }
      const body = `${socket.alpnProtocol} ${socket.servername} ${bytes.toString('latin1').split(' ')[1]}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
  provider.on('tlsClientError', () => {});
  let origin = '';

  beforeAll(async () => {
    setDefaultCACertificates([...defaults, pair.cert]);
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    origin = `https://localhost:${Object(provider.address()).port}`;
  });
  afterAll(() => {
    setDefaultCACertificates(defaults);
    provider.close();
  });

  test.each([false, true])(
    'calls go through a tunnel that the proxy opens, and keep it (TLS to the proxy: %s)',
    async (isTls) => {
      const proxy = await startEgressProxy({ tls: isTls ? pair : null, user: 'me:p@ss' });
      const httpsProxy = `${proxy.origin.replace('127.0.0.1', 'localhost').replace('://', '://me:p%40ss@')}`;
      const client = createUpstreamClient({ httpProxy: null, httpsProxy, noProxy: null }, TEST_LIMITS);
      try {
        const first = await callOnce(client, { origin, path: '/a' });
        expect(first).toMatchObject({ status: 200, body: 'http/1.1 localhost /a', isReused: [false], failure: null });
        const second = await callOnce(client, { origin, path: '/b', method: 'POST', body: Buffer.alloc(200_000) });
        expect(second).toMatchObject({ status: 200, body: 'http/1.1 localhost /b', isReused: [true] });
        expect(proxy.tunnels).toEqual([origin.replace('https://', '')]);
        // What goes through it is the provider's alone.
        expect(proxy.heads[0]).toContain('Proxy-Authorization: Basic bWU6cEBzcw==\r\n');
      } finally {
        await client.close();
        await proxy.close();
      }
    },
  );

  test('a websocket is opened through the tunnel', async () => {
    const proxy = await startEgressProxy();
    const client = createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: null }, TEST_LIMITS);
    try {
      const text = await new Promise<string>((resolve, reject) => {
        const request = {
          origin,
          mayBePrivate: true,
          method: 'GET',
          path: '/',
          headers: [],
          body: null,
          bodyBytes: null,
        };
        client.upgrade(request, {
          onConnection() {},
          onHead() {},
          onData() {},
          onTrailers() {},
          onEnd() {},
          onFailure: ({ cause }) => reject(cause),
          onSwitch: (_reason, _headers, socket, rest) => {
            socket.on('error', reject);
            if (rest.length > 0) socket.unshift(rest);
            socket.once('data', (chunk: Buffer) => {
              socket.destroy();
              resolve(chunk.toString());
            });
            socket.resume();
          },
        });
      });
      expect(text).toBe('hello');
      expect(proxy.tunnels).toHaveLength(1);
    } finally {
      await client.close();
      await proxy.close();
    }
  });

  test.each([
    [
      'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n',
      'upstream_unreachable',
      'The egress proxy answered 407.',
    ],
    ['HTTP/1.1 200 OK\r\n\r\nwhat no proxy says', 'upstream_protocol', undefined],
    ['SSH-2.0\r\n\r\n', 'upstream_protocol', undefined],
    ['', 'upstream_unreachable', undefined],
  ])('an answer of the proxy other than a tunnel ends the call: %j', async (answer, code, detail) => {
    const proxy = await startRawProvider((socket) => void socket.end(answer));
    const client = createUpstreamClient({ httpProxy: null, httpsProxy: proxy.origin, noProxy: null }, TEST_LIMITS);
    try {
      const { failure, status } = await callOnce(client, { origin });
      expect([status, failure?.code, failure?.detail]).toEqual([null, code, detail]);
    } finally {
      await client.close();
      await proxy.close();
    }
  });

  test('a provider whose certificate is for another name is refused inside the tunnel', async () => {
    const proxy = await startEgressProxy();
    const client = createUpstreamClient({ httpProxy: proxy.origin, httpsProxy: null, noProxy: null }, TEST_LIMITS);
    try {
      const outcome = await callOnce(client, { origin: origin.replace('localhost', '127.0.0.1') });
      expect(outcome.failure).toMatchObject({ code: 'upstream_tls', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
    } finally {
      await client.close();
      await proxy.close();
    }
  });

  test('a proxy that says nothing is waited for as long as any connection, and an aborted call lets it go', async () => {
    const proxy = await startRawProvider(() => {});
    const limits = { ...TEST_LIMITS, connectTimeoutMs: 50 };
    const client = createUpstreamClient({ httpProxy: null, httpsProxy: proxy.origin, noProxy: null }, limits);
    const patient = createUpstreamClient({ httpProxy: null, httpsProxy: proxy.origin, noProxy: null }, TEST_LIMITS);
    try {
      expect((await callOnce(client, { origin })).failure?.code).toBe('upstream_connect_timeout');
      const { call } = startCall(patient, { origin });
      while (proxy.sockets.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      const [, socket] = proxy.sockets;
      const gone = socket === undefined ? null : once(socket, 'end');
      socket?.resume();
      call.abort();
      await gone;
    } finally {
      await client.close();
      await patient.close();
      await proxy.close();
    }
  });
});
