import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../fake-provider.ts';
import { readRawAnswer } from '../read-raw-answer.ts';
import { buildAnswer } from '../scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider({ answer: () => buildAnswer({ body: '{}' }) });
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

test.each([
  ['key=CANARY&alt=sse', 'key=***&alt=sse'],
  ['k%65y=CANARY', 'k%65y=***'],
  ['%6b%65%79=CANARY', '%6b%65%79=***'],
  ['api_key%5B%5D=CANARY', 'api_key%5B%5D=***'],
  ['api_key[]=CANARY', 'api_key[]=***'],
  ['key%20=CANARY', 'key%20=***'],
  ['key+=CANARY', 'key+=***'],
  ['a=1;key=CANARY', 'a=1;key=***'],
  ['key=CANARY;CANARY&a=1', 'key=***&a=1'],
  ['auth=CANARY&Authorization=CANARY&jwt=CANARY', 'auth=***&Authorization=***&jwt=***'],
  ['%zz=1&sig=CANARY', '%zz=1&sig=***'],
  ['max_tokens=5&keyword=x&author=y&key', 'max_tokens=5&keyword=x&author=y&key'],
])('of the query %j the log keeps %j; the provider gets it as it is', async (query, logged) => {
  const seen = provider.requests.length;
  await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models?${query} HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
  );
  expect((await proxy.lastCall()).begin.path).toBe(`/v1/models?${logged}`);
  expect((await provider.waitForRequest(seen)).requestLine).toContain(`?${query} `);
});
