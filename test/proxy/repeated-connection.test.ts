import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../fake-provider.ts';
import { readRawAnswer } from '../read-raw-answer.ts';
import { buildAnswer } from '../scripted-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

let provider: ScriptedProvider;
let proxy: InProcessProxy;

beforeAll(async () => {
  provider = await startScriptedProvider();
  proxy = await startProxy(provider.origin);
});
afterAll(async () => {
  await proxy.close();
  await provider.close();
});

test('what the first of two Connection headers names stays on its hop too', async () => {
  provider.setAnswer(() =>
    buildAnswer({
      headers: [
        ['Connection', 'X-Hop'],
        ['Connection', 'X-Other'],
        ['X-Hop', '1'],
        ['X-Other', '1'],
        ['X-End', '1'],
      ],
      body: 'x',
    }),
  );
  const answer = await readRawAnswer(
    '127.0.0.1',
    proxy.port,
    `GET /v1/models HTTP/1.1\r\nHost: a\r\nX-Gateway-Key: ${proxy.key}\r\n\r\n`,
  );
  expect(answer.rawHeaders).toContain('X-End');
  expect(answer.rawHeaders).not.toContain('X-Hop');
  expect(answer.rawHeaders).not.toContain('X-Other');
});
