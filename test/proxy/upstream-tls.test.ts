import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, getCACertificates, type Server, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createUpstreamClient } from '../../src/proxy/upstream/upstream-client.ts';
import { callOnce, NO_EGRESS, TEST_LIMITS } from './upstream-driver.ts';

let server: Server;
let port: number;
let certificate: string;
const sockets: TLSSocket[] = [];
const defaults = getCACertificates('default');

beforeAll(async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-tls-'));
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  execFileSync(
    'openssl',
    ['req', '-x509', ...curve, '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...subject],
    {
      stdio: 'ignore',
    },
  );
  certificate = readFileSync(cert, 'utf8');
  server = createServer({ key: readFileSync(key), cert: certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', () => {
      const body = `${socket.alpnProtocol} ${socket.servername} ${socket.isSessionReused() ? 'resumed' : 'new'}`;
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    });
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, resolve));
  port = Object(server.address() satisfies AddressInfo | string | null).port;
  rmSync(dir, { recursive: true });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

test('a certificate that no authority vouches for is refused, whatever the environment says', async () => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  try {
    const outcome = await callOnce(client, { origin: `https://localhost:${port}` });
    expect(outcome).toMatchObject({ status: null, isReused: [], failure: { code: 'upstream_tls' } });
  } finally {
    delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    await client.close();
  }
});

test('with the operator’s authority it is accepted: HTTP/1.1 by ALPN, the name sent, the session resumed', async () => {
  setDefaultCACertificates([...defaults, certificate]);
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  try {
    const origin = `https://localhost:${port}`;
    expect(await callOnce(client, { origin })).toMatchObject({ body: 'http/1.1 localhost new', isReused: [false] });
    expect(await callOnce(client, { origin })).toMatchObject({ isReused: [true] });
    const both = await Promise.all([callOnce(client, { origin }), callOnce(client, { origin })]);
    expect(both.map(({ body }) => body)).toContain('http/1.1 localhost resumed');
  } finally {
    setDefaultCACertificates(defaults);
    await client.close();
  }
});

test('a certificate for another name is refused', async () => {
  setDefaultCACertificates([...defaults, certificate]);
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  try {
    const outcome = await callOnce(client, { origin: `https://127.0.0.1:${port}` });
    expect(outcome.failure).toMatchObject({ code: 'upstream_tls', cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' } });
  } finally {
    setDefaultCACertificates(defaults);
    await client.close();
  }
});

test('a websocket handshake goes over TLS with the same settings', async () => {
  setDefaultCACertificates([...defaults, certificate]);
  const client = createUpstreamClient(NO_EGRESS, TEST_LIMITS);
  const shakeHands = (host: string): Promise<string> =>
    new Promise((resolve) => {
      const request = { origin: `https://${host}:${port}`, method: 'GET', path: '/', headers: [] };
      client.upgrade(
        { ...request, mayBePrivate: true, body: null, bodyBytes: null },
        {
          onConnection() {},
          onHead() {},
          onTrailers() {},
          onData: (chunk) => resolve(chunk.toString()),
          onEnd() {},
          onFailure: ({ code }) => resolve(code),
          onSwitch: () => resolve('switched'),
        },
      );
    });
  try {
    expect(await shakeHands('localhost')).toMatch(/^http\/1\.1 localhost /);
    expect(await shakeHands('127.0.0.1')).toBe('upstream_tls');
  } finally {
    setDefaultCACertificates(defaults);
    await client.close();
  }
});
