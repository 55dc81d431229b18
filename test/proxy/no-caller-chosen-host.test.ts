/** No part of a request decides which machine is spoken to. Every connection and every look-up of this process is seen. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;
const ports = new Set<number>();
const names = new Set<string>();

function onSocket(message: unknown): void {
  const socket = typeof message === 'object' && message !== null && 'socket' in message ? message.socket : null;
  if (!(socket instanceof Socket)) return;
  socket.on('connect', () => ports.add(socket.remotePort ?? 0));
  socket.on('lookup', (_error, _address, _family, host) => names.add(host));
}

beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: (request) =>
      request.target.includes('redirect')
        ? buildAnswer({ status: 302, headers: [['location', 'http://evil.example/v1/x']], body: '{}' })
        : buildAnswer({ body: '{}' }),
  });
  proxy = await startProxy(provider.origin);
  subscribe('net.client.socket', onSocket);
});
afterAll(async () => {
  unsubscribe('net.client.socket', onSocket);
  await proxy.close();
  await provider.close();
});

const EVIL = 'http://evil.example:9';
const HEADERS = [
  'X-Gateway-Host',
  'X-Gateway-Base-Url',
  'X-Gateway-Upstream',
  'X-Gateway-Provider-Url',
  'X-Gateway-Custom-Host',
  'X-Forwarded-Host',
  'X-Forwarded-Server',
  'X-Original-URL',
  'X-Rewrite-URL',
  'X-Original-Host',
  'Forwarded',
  'x-portkey-custom-host',
  'x-portkey-config',
  'Helicone-Target-URL',
  'Helicone-OpenAI-API-Base',
  'x-base-url',
  'cf-aig-target',
  'OpenAI-Base-URL',
  'api-base',
  'base_url',
  'X-Custom-Host',
  'Referer',
  'Via',
  'X-Real-IP',
];
const FIELDS = [
  'api_base',
  'base_url',
  'baseURL',
  'api_url',
  'endpoint',
  'host',
  'target',
  'proxy',
  'azure_endpoint',
  'aws_bedrock_runtime_endpoint',
  'vertex_location',
  'webhook',
  'callback_url',
];

test('headers, body, query and target that name another host go to the configured one', async () => {
  const body = JSON.stringify({
    model: 'http://evil.example:9/m',
    ...Object.fromEntries(FIELDS.map((name) => [name, EVIL])),
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `${EVIL}/a.png` } }] }],
    metadata: { base_url: EVIL },
  });
  const lines = HEADERS.map((name) => `${name}: ${EVIL}`).join('\r\n');
  const query = FIELDS.map((name) => `${name}=${encodeURIComponent(EVIL)}`).join('&');
  const targets = [
    `/v1/chat/completions?${query}`,
    '/v1/chat/completions@evil.example',
    '/v1/redirect',
    '/v1beta/models/evil.example%2Fm:generateContent',
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1.evil.example%23/converse',
  ];
  for (const target of targets) {
    const request = `POST ${target} HTTP/1.1\r\nHost: evil.example:9\r\nX-Gateway-Key: ${proxy.key}\r\n${lines}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    const answer = await readRawAnswer('127.0.0.1', proxy.port, request);
    expect([target, answer.status]).toEqual([target, target.includes('redirect') ? 302 : 200]);
  }
  for (const target of [
    '//evil.example:9/v1/x',
    '/\\evil.example:9/v1/x',
    '/v1/../x',
    '/v1/%2e%2e/x',
    '/v1/x#@evil.example',
    'evil.example:9/v1/x',
    `${EVIL}/v1/chat/completions`,
    'http://u:p@evil.example:9/v1/chat/completions',
  ])
    expect([
      target,
      (
        await readRawAnswer(
          '127.0.0.1',
          proxy.port,
          `GET ${target} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
        )
      ).status,
    ]).toEqual([target, 400]);
  expect(provider.requests.length).toBe(targets.length);
  // The test's own connections to the proxy are among them.
  expect([...ports].sort()).toEqual([proxy.port, provider.port].sort());
  expect([...names]).toEqual([]);
});

test('a gateway behind a gateway gets no key, so that a loop ends at its first turn', async () => {
  const behind = await startProxy(proxy.base);
  const before = provider.requests.length;
  const answer = await fetch(`${behind.base}/v1/responses`, {
    method: 'POST',
    headers: { 'x-gateway-key': behind.key, authorization: 'Bearer k' },
    body: '{}',
  });
  expect([answer.status, answer.headers.get('x-gateway-error')]).toEqual([401, null]);
  expect(await answer.text()).toContain('X-Gateway-Key');
  expect(provider.requests.length).toBe(before);
  await behind.close();
});
