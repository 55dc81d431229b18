/** What a request asks for and its answer does not report: the record says so, and the price book leaves the cost open. */
import { expect, test } from 'vitest';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const { provider, proxy } = await openProxy();
const { priceCall } = createPriceBook();

type Header = readonly [string, string];

async function record(
  path: string,
  request: object,
  asked: readonly Header[],
  answer: object,
  answered: readonly Header[] = [],
) {
  provider.setAnswer(() =>
    buildAnswer({ headers: [['Content-Type', 'application/json'], ...answered], body: JSON.stringify(answer) }),
  );
  const body = Buffer.from(JSON.stringify(request));
  const headers: readonly Header[] = [
    ['Host', 'gateway'],
    ['X-Gateway-Key', proxy.key],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
    ...asked,
  ];
  const head = [`POST ${path} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n');
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(head), body]));
  const { begin, end } = await proxy.lastCall();
  const { serviceTier, speed, modelRequested } = end;
  return { serviceTier, speed, modelRequested, costStatus: priceCall(toBillableCall(begin, end)).costStatus };
}

const NOVA = 'amazon.nova-lite-v1:0';
const invoke = `/model/${NOVA}/invoke`;
const converse = `/model/${NOVA}/converse`;
const NATIVE = { usage: { inputTokens: 1000, outputTokens: 200, totalTokens: 1200 } };
const FLEX: Header = ['X-Amzn-Bedrock-Service-Tier', 'flex'];
const FAST: Header = ['X-Amzn-Bedrock-PerformanceConfig-Latency', 'optimized'];

test('a tier or latency of Bedrock’s that the answer does not repeat has no price', async () => {
  expect(await record(invoke, {}, [], NATIVE)).toMatchObject({ serviceTier: null, speed: null, costStatus: 'exact' });
  expect(await record(invoke, {}, [FLEX], NATIVE)).toMatchObject({ serviceTier: 'unreported', costStatus: 'unpriced' });
  expect(await record(invoke, {}, [FAST], NATIVE)).toMatchObject({ speed: 'unreported', costStatus: 'unpriced' });
  const optimized = { performanceConfig: { latency: 'optimized' } };
  expect(await record(converse, optimized, [], NATIVE)).toMatchObject({ speed: 'unreported', costStatus: 'unpriced' });
  expect(
    await record(converse, optimized, [], { ...NATIVE, performanceConfig: { latency: 'standard' } }),
  ).toMatchObject({
    speed: 'standard',
    costStatus: 'exact',
  });
  const standard: Header = ['X-Amzn-Bedrock-Service-Tier', 'default'];
  expect(await record(invoke, {}, [FLEX], NATIVE, [standard])).toMatchObject({
    serviceTier: 'default',
    costStatus: 'exact',
  });
});

test('a completion window that the answer does not repeat leaves the cost open', async () => {
  const answer = {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    background: true,
    model: 'gpt-5-2025-08-07',
    usage: { input_tokens: 1000, output_tokens: 200, total_tokens: 1200 },
  };
  const ask = (window: string) =>
    record(
      '/v1/responses',
      { model: 'gpt-5', background: true, background_options: { completion_window: window } },
      [],
      answer,
    );
  expect((await ask('8h')).costStatus).toBe('partial');
  expect((await ask('soonest')).costStatus).toBe('exact');
});

test('the requested model is what the endpoint’s own members name', async () => {
  const reel = { modelId: 'amazon.nova-reel-v1:1', modelInput: { model: 'inner' } };
  expect((await record('/async-invoke', reel, [], {})).modelRequested).toBe('amazon.nova-reel-v1:1');
  const agent = { agent: 'deep-research-pro-preview', input: 'Hi' };
  expect((await record('/v1beta/interactions', agent, [], {})).modelRequested).toBe('deep-research-pro-preview');
  const model = { model: 'gemini-3.5-flash', input: 'Hi' };
  expect((await record('/v1beta/interactions', model, [], {})).modelRequested).toBe('gemini-3.5-flash');
  // Elsewhere these members are none.
  expect((await record('/v1/responses', { agent: 'a', modelId: 'm' }, [], {})).modelRequested).toBeNull();
});
