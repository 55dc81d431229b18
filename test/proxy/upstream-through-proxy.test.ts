import { expect, test } from 'vitest';
import { createUpstreamClient } from '../../src/proxy/upstream-client.ts';
import { startScriptedProvider } from '../fake-provider.ts';
import { callOnce } from './upstream-driver.ts';

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
    expect((await callOnce(client, { origin: provider.origin, path: '/y' })).status).toBe(200);
    expect((await provider.waitForRequest(0)).requestLine).toBe('GET /y HTTP/1.1');
  } finally {
    await client.close();
    await proxy.close();
    await provider.close();
  }
});
