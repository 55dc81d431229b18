/** The package of clients/typescript with what really sends requests: what arrives at a gateway, and what at others. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { fetch as fetchOfUndici } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { install, run, step, uninstall } from '../../clients/typescript/src/index.ts';

interface Recorder {
  readonly url: string;
  readonly requests: Pick<IncomingMessage, 'url' | 'headers'>[];
  redirectTo: string | null;
  readonly server: Server;
}
type Send = (url: string, headers: Readonly<Record<string, string>>) => Promise<unknown>;

async function record(): Promise<Recorder> {
  const requests: Recorder['requests'] = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    const { redirectTo } = recorder;
    request.resume().on('end', () => {
      response
        .writeHead(redirectTo === null ? 200 : 307, redirectTo === null ? {} : { location: redirectTo })
        .end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const recorder: Recorder = { url: `http://127.0.0.1:${port}`, requests, redirectTo: null, server };
  return recorder;
}

function ours({ headers }: Pick<IncomingMessage, 'headers'>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('x-gateway-')));
}

const SENDERS: readonly (readonly [string, Send])[] = [
  ['fetch', (url, headers) => fetch(url, { method: 'POST', body: '{}', headers }).then((answer) => answer.text())],
  [
    'undici',
    (url, headers) => fetchOfUndici(url, { method: 'POST', body: '{}', headers }).then((answer) => answer.text()),
  ],
];

/** node:https refuses what is no https, so strangers are asked by fetch only. */
const sendByHttps: Send = (url, headers) =>
  new Promise((resolve, reject) => {
    const request = https.request(url, { method: 'POST', headers }, (answer) => answer.resume().on('end', resolve));
    request.on('error', reject).end('{}');
  });

const CHAT = 'https://api.openai.com/v1/chat/completions?a=b%2Fc';
let gateway: Recorder;
let stranger: Recorder;

beforeEach(async () => {
  gateway = await record();
  stranger = await record();
  install({ url: gateway.url, key: 'tgk_test' });
});
afterEach(() => {
  uninstall();
  for (const { server } of [gateway, stranger]) {
    server.close();
    server.closeAllConnections();
  }
});

describe.each([...SENDERS, ['node:https', sendByHttps] as const])('%s', (_, send) => {
  test('a call of a provider is led to the gateway', async () => {
    await run('r', { feature: 'x' }, () => step('a', () => send(CHAT, { Authorization: 'Bearer sk-test' })));
    expect(gateway.requests).toHaveLength(1);
    const [request] = gateway.requests;
    expect(request?.url).toBe('/v1/chat/completions?a=b%2Fc');
    expect(request?.headers).toMatchObject({ host: new URL(gateway.url).host, authorization: 'Bearer sk-test' });
    expect(request && ours(request)).toEqual({
      'x-gateway-key': 'tgk_test',
      'x-gateway-provider': 'openai',
      'x-gateway-trace-id': 'r',
      'x-gateway-span-path': 'a',
      'x-gateway-feature': 'x',
    });
  });

  test('what the user set wins', async () => {
    const theirs = { 'X-Gateway-Key': 'tgk_own', 'x-gateway-trace-id': 'own', 'X-Gateway-Provider': 'together' };
    await run('r', () => step('a', () => send(CHAT, theirs)));
    expect(gateway.requests.map(ours)).toEqual([
      { 'x-gateway-key': 'tgk_own', 'x-gateway-trace-id': 'own', 'x-gateway-provider': 'together' },
    ]);
  });

  test('the host of AWS stays, for its signature', async () => {
    await send('https://bedrock-runtime.eu-west-1.amazonaws.com/model/m/converse', {
      authorization: 'AWS4-HMAC-SHA256 x',
    });
    expect(gateway.requests[0]?.headers).toMatchObject({
      host: 'bedrock-runtime.eu-west-1.amazonaws.com',
      'x-gateway-provider': 'bedrock',
    });
  });

  test('with the gateway away, a call fails', async () => {
    install({ url: 'http://127.0.0.1:9', key: 'tgk_test' });
    await expect(send(CHAT, {})).rejects.toThrow();
  });
});

describe.each(SENDERS)('%s', (_, send) => {
  test('a stranger gets nothing, also by redirect', async () => {
    gateway.redirectTo = `${stranger.url}/elsewhere`;
    await run('r', { feature: 'x' }, () =>
      step('a', async () => [await send(`${stranger.url}/v1/x`, {}), await send(CHAT, {})]),
    );
    expect(stranger.requests.map((request) => [request.url, ours(request)])).toEqual([
      ['/v1/x', {}],
      ['/elsewhere', {}],
    ]);
    expect(gateway.requests).toHaveLength(1);
  });

  test('a call to the gateway’s own address gets what it lacks', async () => {
    await run('r', () => send(`${gateway.url}/v1/messages`, {}));
    expect(gateway.requests.map(ours)).toEqual([{ 'x-gateway-key': 'tgk_test', 'x-gateway-trace-id': 'r' }]);
  });
});

test('twice is once, and uninstall gives everything back', async () => {
  const installed = https.request;
  install({ url: gateway.url, key: 'tgk_test' });
  expect(https.request).toBe(installed);
  await fetch(CHAT);
  expect(gateway.requests).toHaveLength(1);
  uninstall();
  expect(https.request).not.toBe(installed);
  await fetch(`${gateway.url}/v1/x`);
  expect(gateway.requests.map(ours)[1]).toEqual({});
});

test('a websocket is led to the gateway, also where that has no TLS', async () => {
  const handshakes: IncomingMessage[] = [];
  const sockets = new WebSocketServer({ server: gateway.server });
  sockets.on('connection', (socket, request) => {
    handshakes.push(request);
    socket.send('hello');
  });
  const first = await run('r', () =>
    step('a', async () => {
      const socket = new WebSocket('wss://api.openai.com/v1/realtime?model=m');
      const message = await new Promise<unknown>((resolve, reject) => {
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = reject;
      });
      socket.close();
      return message;
    }),
  );
  expect([first, ...handshakes.map(({ url }) => url)]).toEqual(['hello', '/v1/realtime?model=m']);
  expect(handshakes.map(ours)).toEqual([
    {
      'x-gateway-key': 'tgk_test',
      'x-gateway-provider': 'openai',
      'x-gateway-trace-id': 'r',
      'x-gateway-span-path': 'a',
    },
  ]);
});
