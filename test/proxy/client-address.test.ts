/** Whose call it is, over every transport: with and without trusted proxies in front, and what of it goes on. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { makeCertificate } from './make-certificate.ts';
import { readHttp2Answer } from './read-http2-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';
import { startRawProvider } from './websocket-provider.ts';

const CLIENT = '203.0.113.9';
/** As a proxy in front leaves it: what the client had invented, and itself behind it. */
const TOLD = [
  `X-Forwarded-For: 198.51.100.1, ${CLIENT}`,
  'x-forwarded-PROTO: https',
  'X-Forwarded-Host: gate.example.com',
  'X-Forwarded-Port: 443',
  'X-Forwarded-Server: inner-7',
  `Forwarded: for=${CLIENT};proto=https`,
  `X-Real-IP: ${CLIENT}`,
  'Via: 1.1 inner-7',
  'X-Amzn-Tls-Version: TLSv1.3',
];
/** What clients write as well, and what tells of nobody. */
const OWN = [
  'X-Request-Id: 7',
  'traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  'X-Amzn-Trace-Id: Root=1-2',
];

let provider: ScriptedProvider;
let trusting: InProcessProxy;
let plain: InProcessProxy;
let silent: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider();
  trusting = await startProxy(provider.origin, { trustedProxies: ['127.0.0.0/8'] });
  plain = await startProxy(provider.origin, { trustedProxies: ['10.0.0.0/8'] });
  silent = await startProxy(provider.origin, { trustedProxies: ['127.0.0.0/8'], clientAddress: 'off' });
});
afterAll(async () => {
  for (const proxy of [trusting, plain, silent]) await proxy.close();
  await provider.close();
});
beforeEach(() => provider.setAnswer(() => buildAnswer({ body: '{}' })));

function namesOf(rawHeaders: readonly string[]): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 0);
}

async function call(proxy: InProcessProxy, headers: readonly string[]) {
  const head = ['GET /v1/models HTTP/1.1', 'Host: g', `X-Gateway-Key: ${proxy.key}`, ...headers, '', ''].join('\r\n');
  await readRawAnswer('127.0.0.1', proxy.port, head);
  const { begin } = await proxy.lastCall();
  return { address: begin.clientAddress, sent: namesOf(provider.requests.at(-1)?.rawHeaders ?? []) };
}

test('from a trusted proxy the client is whom that has seen, and what it told ends here', async () => {
  expect(await call(trusting, [...TOLD, ...OWN])).toEqual({
    address: CLIENT,
    sent: ['Host', 'Connection', 'X-Request-Id', 'traceparent', 'X-Amzn-Trace-Id'],
  });
});

test('from anybody else it is the other end of the connection, and every header goes on', async () => {
  expect(await call(plain, [...TOLD, ...OWN])).toEqual({
    address: '127.0.0.1',
    sent: ['Host', 'Connection', ...[...TOLD, ...OWN].map((line) => line.replace(/:.*/, ''))],
  });
});

test('no address is kept where the operator wants none; what a proxy told ends here all the same', async () => {
  expect(await call(silent, [...TOLD, ...OWN])).toEqual({
    address: null,
    sent: ['Host', 'Connection', 'X-Request-Id', 'traceparent', 'X-Amzn-Trace-Id'],
  });
  await readRawAnswer('127.0.0.1', silent.port, `GET /v1/models HTTP/1.1\r\nHost: g\r\n${TOLD[0]}\r\n\r\n`);
  expect(silent.attempts.at(-1)).toMatchObject({ code: 'key_missing', clientAddress: null });
});

test('a refused attempt has the address of the client, also one that is no request of ours', async () => {
  for (const line of ['GET /v1/models HTTP/1.1', 'GET /a/../b HTTP/1.1']) {
    await readRawAnswer('127.0.0.1', trusting.port, `${line}\r\nHost: g\r\n${TOLD[0]}\r\n\r\n`);
    expect(trusting.attempts.at(-1)).toMatchObject({ clientAddress: CLIENT });
    await readRawAnswer('127.0.0.1', plain.port, `${line}\r\nHost: g\r\n${TOLD[0]}\r\n\r\n`);
    expect(plain.attempts.at(-1)).toMatchObject({ clientAddress: '127.0.0.1' });
  }
});

test('each request of a proxy’s kept connection is its own client’s', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set<number | undefined>();
  for (const [given, address] of [
    ['203.0.113.1', '203.0.113.1'],
    ['2001:DB8::2', '2001:db8::2'],
    ['unknown', '127.0.0.1'],
  ] as const) {
    const headers = { 'x-gateway-key': trusting.key, 'x-forwarded-for': given };
    await new Promise<void>((resolve, reject) => {
      const request = get(`${trusting.base}/v1/models`, { agent, headers }, (answer) => {
        ports.add(answer.socket.localPort);
        answer.resume().once('end', () => resolve());
      });
      request.once('error', reject);
    });
    expect((await trusting.lastCall()).begin.clientAddress).toBe(address);
  }
  agent.destroy();
  expect(ports.size).toBe(1);
});

test('streams of one HTTP/2 connection each are their own client’s', async () => {
  for (const [proxy, expected] of [
    [trusting, ['203.0.113.1', '203.0.113.2']],
    [plain, ['127.0.0.1', '127.0.0.1']],
  ] as const) {
    const session = connect(proxy.base);
    try {
      for (const [index, address] of expected.entries()) {
        const headers = ['x-gateway-key', proxy.key, 'x-forwarded-for', `203.0.113.${index + 1}`, 'via', '2 front'];
        await readHttp2Answer(session, { path: '/v1/models', headers });
        expect((await proxy.lastCall()).begin.clientAddress).toBe(address);
        const sent = namesOf(provider.requests.at(-1)?.rawHeaders ?? []);
        expect(sent.includes('x-forwarded-for')).toBe(proxy === plain);
        expect(sent.includes('via')).toBe(proxy === plain);
      }
    } finally {
      session.destroy();
    }
  }
});

test('with TLS of its own it is no different, in both protocols', async () => {
  const pair = makeCertificate();
  const identity = { ...pair, ticketKeys: randomBytes(48).toString('base64') };
  const settings = { trustedProxies: ['127.0.0.1/32'] };
  const secure = await startProxy(provider.origin, settings, {}, DEFAULT_LIMITS, undefined, {}, identity);
  const open = (localAddress: string, protocol: string) =>
    connectTls({
      socket: connectTcp({ host: '127.0.0.1', port: secure.port, localAddress }),
      ca: pair.cert,
      servername: 'localhost',
      ALPNProtocols: [protocol],
    });
  try {
    const told = ['x-gateway-key', secure.key, 'x-forwarded-for', `198.51.100.1, ${CLIENT}`];
    for (const [localAddress, expected] of [
      ['127.0.0.1', CLIENT],
      ['127.0.0.2', '127.0.0.2'],
    ] as const) {
      const session = connect('https://localhost', { createConnection: () => open(localAddress, 'h2') });
      await readHttp2Answer(session, { path: '/v1/models', headers: told });
      session.destroy();
      expect((await secure.lastCall()).begin.clientAddress).toBe(expected);

      const socket = open(localAddress, 'http/1.1');
      const headers = [`${told[0]}: ${told[1]}`, `${told[2]}: ${told[3]}`, 'Connection: close', '', ''];
      socket.end(['GET /v1/models HTTP/1.1', 'Host: g', ...headers].join('\r\n'));
      await once(socket.resume(), 'close');
      expect((await secure.lastCall()).begin.clientAddress).toBe(expected);
    }
  } finally {
    await secure.close();
  }
});

describe('a websocket', () => {
  const open: { close: () => Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });

  test.each([
    ['a trusted proxy', ['127.0.0.1/32'], CLIENT, false],
    ['anybody else', [], '127.0.0.1', true],
  ])('from %s', async (_, trustedProxies, address, goesOn) => {
    const heads: string[] = [];
    const refusing = await startRawProvider((socket, head) => {
      heads.push(head);
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    });
    const proxy = await startProxy(refusing.origin, { trustedProxies });
    open.push(proxy, refusing);
    const head = [
      'GET /v1/realtime?model=gpt-realtime HTTP/1.1',
      'Host: g',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version: 13',
      `X-Gateway-Key: ${proxy.key}`,
      ...TOLD,
    ];
    expect((await readRawAnswer('127.0.0.1', proxy.port, [...head, '', ''].join('\r\n'))).status).toBe(403);
    expect((await proxy.lastCall()).begin.clientAddress).toBe(address);
    expect(heads).toHaveLength(1);
    for (const line of TOLD) expect(heads[0]?.includes(`${line}\r\n`)).toBe(goesOn);
  });
});
