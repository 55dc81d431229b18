/**
 * Cache writes that the answer reports as one sum are billed by the lifetime that the request asked for; where that is
 * not clear, their rate is not known.
 */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';

const book = createPriceBook();
const { provider, proxy } = await openProxy();

const MODEL = '/model/global.anthropic.claude-opus-5';
const CONVERSE = { inputTokens: 0, outputTokens: 0, cacheWriteInputTokens: 1000, totalTokens: 1000 };
const CLAUDE = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 1000 };

async function priceOf(path: string, usage: object, body: Buffer, headers: readonly string[] = []) {
  const answer = Buffer.from(JSON.stringify({ type: 'message', stop_reason: 'end_turn', usage }));
  provider.setAnswer(() =>
    buildAnswer({ status: 200, headers: [['Content-Type', 'application/json']], framing: 'chunked', body: answer }),
  );
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    `X-Gateway-Key: ${proxy.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    ...headers,
    '',
    '',
  ];
  await readRawAnswer('127.0.0.1', proxy.port, Buffer.concat([Buffer.from(lines.join('\r\n')), body]));
  const { begin, end } = await proxy.lastCall();
  const at = { region: 'us-east-1', requestedAtMs: Date.UTC(2026, 10, 20) };
  const { costStatus, knownCost } = book.priceCall(toBillableCall({ ...begin, ...at }, end));
  return { costStatus, knownCost: formatUsd(knownCost), classes: end.usage?.classes };
}

const json = (value: object) => Buffer.from(JSON.stringify(value));

function converse(points: readonly object[], text = 'a'): Buffer {
  return json({ system: [{ text }, ...points.map((cachePoint) => ({ cachePoint }))], messages: [] });
}

function invoke(marks: readonly object[]): Buffer {
  return json({ system: marks.map((cache_control) => ({ type: 'text', text: 'a', cache_control })), messages: [] });
}

const HOUR = { type: 'default', ttl: '1h' };
const SHORT = { type: 'default', ttl: '5m' };

// A thousand tokens of Opus 5: $0.00625 for five minutes, $0.01 for an hour.
test.each<[string, string, object, Buffer]>([
  ['one hour in every cache point', `${MODEL}/converse`, CONVERSE, converse([HOUR, HOUR])],
  ['one hour for Claude’s own format', `${MODEL}/invoke`, CLAUDE, invoke([{ type: 'ephemeral', ttl: '1h' }])],
  [
    'one hour with white space, in a body that is passed on as it comes',
    `${MODEL}/converse`,
    CONVERSE,
    Buffer.from(`{"system":[{"text":"${'a'.repeat(400_000)}"},{"cachePoint" : { "type":"default", "ttl" : "1h" }}]}`),
  ],
])('%s: the writes are of an hour', async (_, path, usage, body) => {
  expect(await priceOf(path, usage, body)).toMatchObject({
    costStatus: 'exact',
    knownCost: '0.01',
    classes: { cache_creation_1h: 1000 },
  });
});

test.each<[string, string, object, Buffer]>([
  ['no lifetime', `${MODEL}/converse`, CONVERSE, converse([{ type: 'default' }])],
  ['five minutes', `${MODEL}/converse`, CONVERSE, converse([SHORT, { type: 'default' }])],
  ['no lifetime for Claude’s own format', `${MODEL}/invoke`, CLAUDE, invoke([{ type: 'ephemeral' }])],
  [
    'an hour in words of the prompt only',
    `${MODEL}/converse`,
    CONVERSE,
    converse([SHORT], '"cachePoint":{"ttl":"1h"}'),
  ],
  [
    'an hour where the answer says that it was five minutes',
    `${MODEL}/converse`,
    { ...CONVERSE, cacheDetails: [{ ttl: '5m', inputTokens: 1000 }] },
    converse([HOUR, SHORT]),
  ],
])('%s: the writes are of five minutes', async (_, path, usage, body) => {
  expect(await priceOf(path, usage, body)).toMatchObject({
    costStatus: 'exact',
    knownCost: '0.00625',
    classes: { cache_creation_5m: 1000 },
  });
});

const WITH_OUTPUT = { ...CONVERSE, outputTokens: 100, totalTokens: 1100 };

test.each<[string, object, Buffer, readonly string[]]>([
  ['both lifetimes', WITH_OUTPUT, converse([HOUR, SHORT]), []],
  ['an hour and the default', WITH_OUTPUT, converse([HOUR, { type: 'default' }]), []],
  ['a lifetime that is not known here', WITH_OUTPUT, converse([{ type: 'default', ttl: '2h' }]), []],
  [
    'an hour where the answer tells a part',
    { ...WITH_OUTPUT, cacheDetails: [{ ttl: '1h', inputTokens: 400 }] },
    converse([HOUR]),
    [],
  ],
  ['an encoded request', WITH_OUTPUT, gzipSync(converse([HOUR])), ['Content-Encoding: gzip']],
  ['a request that is larger than what is kept of it', WITH_OUTPUT, converse([HOUR], 'a'.repeat(1_200_000)), []],
])('%s: the rate of the writes is not known, and the rest is', async (_, usage, body, headers) => {
  expect(await priceOf(`${MODEL}/converse`, usage, body, headers)).toMatchObject({
    costStatus: 'partial',
    knownCost: '0.0025',
  });
});
