/**
 * Twins: the same answer delivered as JSON and as a stream is the same usage and costs the same, for every way in which
 * Claude and Nova are served.
 */
import { EventStreamCodec } from '@smithy/eventstream-codec';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { USAGE_FORMATS } from '../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../src/formats/usage/usage-reader.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { JsonObject, ReportedUsage } from '../../src/vocabulary/token-usage.ts';
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { billableCall } from '../support/billable-call.ts';

const book = createPriceBook();
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text, 'utf8'),
);

function readAnswer(format: UsageFormatName, contentType: string, body: Buffer): ReportedUsage {
  const reader = createUsageReader({ format: USAGE_FORMATS[format], status: 200, contentType, contentEncoding: null });
  const half = body.length >> 1;
  reader.push(body.subarray(0, half));
  reader.push(body.subarray(half));
  const ends: ReportedUsage[] = [];
  reader.finish(true, (end) => ends.push(end));
  const [reported] = ends;
  if (reported === undefined) throw new Error('the reader did not finish');
  return reported;
}

const readJson = (format: UsageFormatName, body: JsonObject) =>
  readAnswer(format, 'application/json', Buffer.from(JSON.stringify(body)));

const readSse = (format: UsageFormatName, events: readonly JsonObject[]) =>
  readAnswer(
    format,
    'text/event-stream',
    Buffer.from(events.map((event) => `event: ${event['type']}\ndata: ${JSON.stringify(event)}\n\n`).join('')),
  );

function frame(type: string, payload: JsonObject): Uint8Array {
  const headers = {
    ':event-type': { type: 'string', value: type },
    ':message-type': { type: 'string', value: 'event' },
  } as const;
  return codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) });
}

const readFrames = (format: UsageFormatName, frames: readonly Uint8Array[]) =>
  readAnswer(format, 'application/vnd.amazon.eventstream', Buffer.concat(frames));

const readChunks = (chunks: readonly JsonObject[]) =>
  readFrames(
    'invoke',
    chunks.map((own) => frame('chunk', { bytes: Buffer.from(JSON.stringify(own)).toString('base64'), p: 'abc' })),
  );

function costOf(provider: ProviderName, model: string, reported: ReportedUsage) {
  const { costStatus, totalCost } = book.priceCall(
    billableCall({
      provider,
      requestedAtMs: Date.UTC(2026, 10, 28, 8),
      model: reported.model,
      modelRequested: model,
      serviceTier: reported.serviceTier,
      speed: reported.speed,
      inferenceGeo: reported.inferenceGeo,
      region: 'us-east-1',
      usage: reported.usage,
      usageSource: reported.terminal ? 'provider' : 'partial',
    }),
  );
  return [costStatus, totalCost === null ? null : formatUsd(totalCost)];
}

function expectTwins(provider: ProviderName, model: string, whole: ReportedUsage, streamed: ReportedUsage): void {
  const facts = ({ usage, ...rest }: ReportedUsage) => ({
    ...rest,
    usage: usage === null ? null : { classes: usage.classes, reasoning: usage.reasoning, others: usage.others },
  });
  expect(facts(streamed)).toEqual(facts(whole));
  expect(costOf(provider, model, streamed)).toEqual(costOf(provider, model, whole));
  expect(costOf(provider, model, whole)[0]).toBe('exact');
}

const count = fc.nat({ max: 400_000 });
/** No answer is free of tokens: where all counts are 0 they were not counted, and the cost is not exact. */
const prompt = fc.integer({ min: 1, max: 400_000 });
const RUNS = { numRuns: 40 };

interface ClaudeUsage {
  readonly input: number;
  readonly read: number;
  readonly write5m: number;
  readonly write1h: number;
  readonly output: number;
  readonly compaction: number | null;
}

const claudeUsage: fc.Arbitrary<ClaudeUsage> = fc.record({
  input: prompt,
  read: count,
  write5m: count,
  write1h: count,
  output: count,
  compaction: fc.option(count),
});

function inputOf(usage: ClaudeUsage): JsonObject {
  return {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.write5m + usage.write1h,
    cache_read_input_tokens: usage.read,
    cache_creation: { ephemeral_5m_input_tokens: usage.write5m, ephemeral_1h_input_tokens: usage.write1h },
    service_tier: 'standard',
  };
}

/** What a late delta may add. */
function lateOf({ compaction, output }: ClaudeUsage): JsonObject {
  const iterations = compaction === null ? null : [{ type: 'compaction', input_tokens: compaction, output_tokens: 1 }];
  return { output_tokens: output, iterations, output_tokens_details: { thinking_tokens: output >> 1 } };
}

function claudeWhole(model: string, usage: ClaudeUsage): JsonObject {
  return { type: 'message', model, content: [], usage: { ...inputOf(usage), ...lateOf(usage) } };
}

/** `between`: deltas on the way, with totals so far, nulls, and an input of 0 as some hosts send it. */
function claudeEvents(model: string, usage: ClaudeUsage, between: readonly number[], last: JsonObject): JsonObject[] {
  const start = { ...inputOf(usage), output_tokens: Math.min(1, usage.output) };
  return [
    { type: 'message_start', message: { type: 'message', model, content: [], usage: start } },
    { type: 'ping' },
    ...between
      .map((share) => Math.floor(usage.output * share))
      .sort((a, b) => a - b)
      .map((output) => ({
        type: 'message_delta',
        usage: { input_tokens: 0, cache_read_input_tokens: null, output_tokens: output, iterations: null },
      })),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: lateOf(usage) },
    { type: 'message_stop', ...last },
  ];
}

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });

describe('twins, as JSON and as a stream', () => {
  test('Claude, in its own format', () => {
    fc.assert(
      fc.property(claudeUsage, shares, (usage, between) => {
        const whole = readJson('messages', claudeWhole('claude-sonnet-4-5-20250929', usage));
        const streamed = readSse('messages', claudeEvents('claude-sonnet-4-5-20250929', usage, between, {}));
        expectTwins('anthropic', 'claude-sonnet-4-5', whole, streamed);
      }),
      RUNS,
    );
  });

  test('Claude, by Bedrock’s invoke', () => {
    fc.assert(
      fc.property(claudeUsage, shares, (usage, between) => {
        const metrics = {
          'amazon-bedrock-invocationMetrics': {
            inputTokenCount: usage.input,
            outputTokenCount: usage.output,
            cacheReadInputTokenCount: usage.read,
            cacheWriteInputTokenCount: usage.write5m + usage.write1h,
          },
        };
        const whole = readJson('invoke', claudeWhole('claude-haiku-4-5-20251001', usage));
        const streamed = readChunks(claudeEvents('claude-haiku-4-5-20251001', usage, between, metrics));
        expectTwins('bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', whole, streamed);
      }),
      RUNS,
    );
  });

  test('Claude, by Converse', () => {
    fc.assert(
      fc.property(claudeUsage, ({ input, read, write5m, write1h, output }) => {
        const usage = {
          inputTokens: input,
          outputTokens: output,
          totalTokens: input + output + read + write5m + write1h,
          cacheReadInputTokens: read,
          cacheWriteInputTokens: write5m + write1h,
          cacheDetails: [
            { ttl: '1h', inputTokens: write1h },
            { ttl: '5m', inputTokens: write5m },
          ],
        };
        const terms = { serviceTier: { type: 'default' }, performanceConfig: { latency: 'standard' } };
        const whole = readJson('converse', { output: { message: { role: 'assistant' } }, usage, ...terms });
        const streamed = readFrames('converse', [
          frame('messageStart', { role: 'assistant' }),
          frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: '"usage":{' } }),
          frame('messageStop', { stopReason: 'end_turn' }),
          frame('metadata', { usage, metrics: { latencyMs: 5 }, ...terms }),
        ]);
        expectTwins('bedrock', 'us.anthropic.claude-haiku-4-5-20251001-v1:0', whole, streamed);
      }),
      RUNS,
    );
  });

  test('Nova, by Bedrock’s invoke', () => {
    fc.assert(
      fc.property(prompt, count, (input, output) => {
        const usage = { inputTokens: input, outputTokens: output, totalTokens: input + output };
        const metrics = { inputTokenCount: input, outputTokenCount: output };
        const whole = readJson('invoke', { output: { message: { role: 'assistant' } }, usage });
        const streamed = readChunks([
          { messageStart: { role: 'assistant' } },
          { contentBlockDelta: { delta: { text: 'hi' }, contentBlockIndex: 0 } },
          { metadata: { usage, metrics: {} }, 'amazon-bedrock-invocationMetrics': metrics },
        ]);
        expectTwins('bedrock', 'us.amazon.nova-lite-v1:0', whole, streamed);
      }),
      RUNS,
    );
  });
});
