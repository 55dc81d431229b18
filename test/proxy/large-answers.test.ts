/** Usage at the end of large answers over real connections, which bring them faster than some codings are undone. */
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedProvider, startScriptedProvider } from '../support/fake-provider.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
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

const vector = (seed: number) => Array.from({ length: 1_536 }, (_, index) => Math.sin(seed * 1_000 + index) / 20);
const BODY = Buffer.from(
  JSON.stringify({
    data: Array.from({ length: 400 }, (_, index) => ({ object: 'embedding', index, embedding: vector(index) })),
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 50_000, total_tokens: 50_000 },
  }),
);

test.each<[string, Buffer]>([
  ['identity', BODY],
  ['gzip', gzipSync(BODY, { level: 1 })],
  ['deflate', deflateSync(BODY, { level: 1 })],
  ['br', brotliCompressSync(BODY, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['zstd', zstdCompressSync(BODY)],
])(
  'embeddings of 12 MB in the coding %s, as fast as they come, have their usage and reach the client as they were',
  async (coding, body) => {
    provider.setAnswer(() =>
      buildAnswer({
        headers: [
          ['Content-Type', 'application/json'],
          ['Content-Encoding', coding],
        ],
        body,
      }),
    );
    const response = await fetch(`${proxy.base}/v1/embeddings`, {
      method: 'POST',
      headers: { 'x-gateway-key': proxy.key, 'x-gateway-provider': 'openai', 'content-type': 'application/json' },
      body: '{"model":"text-embedding-3-small","input":"a"}',
    });
    expect(BODY.equals(Buffer.from(await response.arrayBuffer()))).toBe(true);
    const { end } = await proxy.waitForCall(response.headers.get('x-gateway-request-id') ?? '');
    expect(end).toMatchObject({ usage: { classes: { input: 50_000 } }, usageSource: 'provider', flags: [] });
  },
);
