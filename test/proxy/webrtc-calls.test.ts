/** A call by WebRTC: the offer passes as it is, and the record knows the model wherever the client has put it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const OFFER = 'v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\n';
let provider: ScriptedProvider;
let proxy: InProcessProxy;
beforeAll(async () => {
  provider = await startScriptedProvider({
    answer: () =>
      buildAnswer({
        status: 201,
        headers: [
          ['content-type', 'application/sdp'],
          ['location', '/v1/realtime/calls/rtc_1'],
        ],
        body: 'v=0\r\n',
      }),
  });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

async function call(query: string, body: string | FormData, headers: Record<string, string> = {}) {
  const response = await fetch(`${proxy.base}/v1/realtime/calls${query}`, {
    method: 'POST',
    headers: { 'x-gateway-key': proxy.key, authorization: 'Bearer ek_0000000000000000', ...headers },
    body,
  });
  expect([response.status, await response.text(), response.headers.get('location')]).toEqual([
    201,
    'v=0\r\n',
    '/v1/realtime/calls/rtc_1',
  ]);
  const { begin, end } = await proxy.waitForCall(response.headers.get('x-gateway-request-id') ?? '');
  return { endpoint: begin.endpoint, billed: begin.billed, model: end.modelRequested, flags: end.flags };
}

test('in the query', async () => {
  const sdp = { 'content-type': 'application/sdp' };
  expect(await call('?model=gpt-realtime-2', OFFER, sdp)).toEqual({
    endpoint: 'realtime',
    billed: true,
    model: 'gpt-realtime-2',
    flags: [],
  });
  expect((await call('', OFFER, sdp)).model).toBeNull();
  expect((await call('?model=', OFFER, sdp)).model).toBeNull();
});

test('in the session of a form, also one with long instructions', async () => {
  for (const instructions of ['Be brief.', 'x'.repeat(30_000)]) {
    const form = new FormData();
    form.set('sdp', OFFER);
    form.set('session', JSON.stringify({ type: 'realtime', instructions, model: 'gpt-realtime-2' }));
    expect((await call('', form)).model).toBe('gpt-realtime-2');
  }
  const broken = new FormData();
  broken.set('session', '{"model":');
  expect((await call('', broken)).model).toBeNull();
});
