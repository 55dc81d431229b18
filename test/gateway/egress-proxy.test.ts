/** A whole gateway in a network that lets calls out through a proxy alone, which wants a user and a password. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../proxy/make-certificate.ts';
import { startEgressProxy, type TestEgressProxy } from '../support/egress-proxy.ts';
import { startGateway, type TestGateway } from './start-gateway.ts';

const ANSWER = JSON.stringify({
  id: 'c1',
  object: 'chat.completion',
  model: 'gpt-4.1-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
});

const pair = makeCertificate({ names: 'DNS:api.openai.com' });
const folder = mkdtempSync(join(tmpdir(), 'tollgate-egress-'));
const provider = createServer(pair, (socket) => {
  socket.on('error', () => {});
  socket.once('data', () =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(ANSWER)}\r\n\r\n${ANSWER}`,
    ),
  );
});
let proxy: TestEgressProxy;
let gateway: TestGateway;

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  proxy = await startEgressProxy({ user: 'gate:s3cret', port: Object(provider.address()).port });
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, pair.cert);
  gateway = await startGateway({
    env: {
      HTTPS_PROXY: proxy.origin.replace('://', '://gate:s3cret@'),
      NO_PROXY: '127.0.0.1,localhost',
      NODE_EXTRA_CA_CERTS: authority,
    },
  });
}, 90_000);

afterAll(async () => {
  await gateway?.stop();
  await proxy?.close();
  provider.close();
  rmSync(folder, { recursive: true, force: true });
});

test('a call reaches the provider in a tunnel of the proxy, is logged with its cost, and the password stays unsaid', async () => {
  const response = await fetch(`${gateway.base}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-gateway-key': gateway.key,
      authorization: 'Bearer sk-of-the-client',
    },
    body: JSON.stringify({ model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'hello' }] }),
  });
  expect([response.status, await response.text()]).toEqual([200, ANSWER]);
  expect(proxy.tunnels).toEqual(['api.openai.com:443']);
  expect(proxy.heads.join('')).not.toContain('sk-of-the-client');
  const record = await gateway.waitForLog(response.headers.get('x-gateway-request-id') ?? '');
  expect(record).toMatchObject({ provider: 'openai', status: 200, input_tokens: 3, output_tokens: 1 });
  expect(gateway.output()).not.toContain('s3cret');
  expect(JSON.stringify(await gateway.api('/api/v1/settings'))).not.toContain('s3cret');
}, 60_000);
