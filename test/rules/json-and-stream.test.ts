/** The same usage costs the same, whether it came in one JSON body or in a stream, wherever that was cut. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ANSWER_FORMS } from '../../src/control/prices/quote/answer-forms.ts';
import { readBilledUsage } from '../../src/formats/usage/billed-usage.ts';
import { isObject, parseJson } from '../../src/formats/usage/read-json.ts';
import { USAGE_FORMATS } from '../../src/formats/usage/registry.ts';
import { createUsageReader } from '../../src/formats/usage/usage-reader.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { toBillableCall } from '../../src/pricing/to-billable-call.ts';
import type { UsageFormatName } from '../../src/providers/format-names.ts';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import type { JsonObject } from '../../src/vocabulary/token-usage.ts';
import { toStream } from '../support/answer-streams.ts';
import { cutBytes } from '../support/scripted-answer.ts';

const book = createPriceBook();
const tokens = fc.nat({ max: 400_000 });

/**
 * The parts that every provider adds up in its own way. Something is answered: Anthropic's streams begin with a count of
 * one, which a later zero does not take back (`merge-native.ts`).
 */
const Parts = fc.record({
  input: tokens,
  read: tokens,
  written: tokens,
  answered: fc.integer({ min: 1, max: 400_000 }),
  thought: tokens,
});
type Parts = typeof Parts extends fc.Arbitrary<infer T> ? T : never;

interface Endpoint {
  readonly format: UsageFormatName;
  readonly provider: ProviderName;
  readonly model: string;
  readonly usage: (parts: Parts) => JsonObject;
  readonly response?: JsonObject;
}

const anthropicUsage = ({ input, read, written, answered }: Parts): JsonObject => ({
  input_tokens: input,
  cache_read_input_tokens: read,
  cache_creation_input_tokens: written + read,
  cache_creation: { ephemeral_5m_input_tokens: written, ephemeral_1h_input_tokens: read },
  output_tokens: answered,
});

const ENDPOINTS: readonly Endpoint[] = [
  {
    format: 'chat-completions',
    provider: 'openai',
    model: 'gpt-5.4',
    response: { service_tier: 'flex' },
    usage: ({ input, read, answered, thought }) => ({
      prompt_tokens: input + read,
      completion_tokens: answered + thought,
      total_tokens: input + read + answered + thought,
      prompt_tokens_details: { cached_tokens: read },
      completion_tokens_details: { reasoning_tokens: thought },
    }),
  },
  {
    format: 'responses',
    provider: 'openai',
    model: 'gpt-5.6-sol',
    usage: ({ input, read, written, answered, thought }) => ({
      input_tokens: input + read + written,
      input_tokens_details: { cached_tokens: read, cache_write_tokens: written },
      output_tokens: answered + thought,
      output_tokens_details: { reasoning_tokens: thought },
    }),
  },
  { format: 'messages', provider: 'anthropic', model: 'claude-sonnet-4-5', usage: anthropicUsage },
  {
    format: 'invoke',
    provider: 'bedrock',
    model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    usage: anthropicUsage,
  },
  {
    format: 'converse',
    provider: 'bedrock',
    model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    usage: ({ input, read, written, answered }) => ({
      inputTokens: input,
      outputTokens: answered,
      totalTokens: input + read + written + answered,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: written,
    }),
  },
  {
    format: 'generate-content',
    provider: 'gemini',
    model: 'gemini-2.5-pro',
    usage: ({ input, read, answered, thought }) => ({
      promptTokenCount: input + read,
      cachedContentTokenCount: read,
      candidatesTokenCount: answered,
      thoughtsTokenCount: thought,
      totalTokenCount: input + read + answered + thought,
    }),
  },
  {
    format: 'images',
    provider: 'openai',
    model: 'gpt-image-1',
    usage: ({ input, read, answered }) => ({
      input_tokens: input + read,
      input_tokens_details: { text_tokens: input, image_tokens: read },
      output_tokens: answered,
    }),
  },
  {
    format: 'transcriptions',
    provider: 'openai',
    model: 'gpt-4o-transcribe',
    usage: ({ input, read, answered }) => ({
      type: 'tokens',
      input_tokens: input + read,
      input_token_details: { text_tokens: input, audio_tokens: read },
      output_tokens: answered,
    }),
  },
];

function priceOf({ format, provider, model }: Endpoint, contentType: string, pieces: readonly Buffer[]) {
  const reader = createUsageReader({ format: USAGE_FORMATS[format], status: 200, contentType, contentEncoding: null });
  for (const piece of pieces) reader.push(piece);
  reader.finish(true, () => {});
  const { reported } = reader;
  const answered = { status: 200, isComplete: true, fetchesResult: false, sentUsage: null };
  const { usage, usageSource } = readBilledUsage(reported, answered);
  const call = toBillableCall(
    {
      provider,
      providerAlias: null,
      endpoint: format,
      billed: true,
      region: null,
      isBatch: false,
      requestedAtMs: Date.UTC(2026, 10, 28),
    },
    {
      model: reported.model,
      modelRequested: model,
      usage,
      usageSource,
      flags: reported.flags,
      serviceTier: reported.serviceTier,
      speed: reported.speed,
      inferenceGeo: reported.inferenceGeo,
      outcome: 'ok',
      status: 200,
      errorType: null,
    },
  );
  const { lines, totalCost, costStatus } = book.priceCall(call);
  return { lines, totalCost, costStatus, flags: reported.flags };
}

test.each(ENDPOINTS.map((endpoint) => [endpoint.format, endpoint] as const))(
  '%s: whole and streamed, the same usage costs the same',
  (_shape, endpoint) => {
    fc.assert(
      fc.property(Parts, fc.array(fc.nat({ max: 2_000 }), { maxLength: 4 }), (parts, cuts) => {
        const { format, model, response = {} } = endpoint;
        const usage = endpoint.usage(parts);
        const whole = ANSWER_FORMS[format].write({ usage, model, response, context: {}, isBatchLine: false });
        const body = parseJson(Buffer.from(whole.body));
        const stream = isObject(body) ? toStream(format, body) : null;
        if (stream === null) throw new Error(`${format} has no stream`);
        const expected = priceOf(endpoint, whole.contentType, [Buffer.from(whole.body)]);
        expect(expected.costStatus).toBe('exact');
        const within = cuts.filter((cut) => cut < stream.body.length);
        expect(priceOf(endpoint, stream.contentType, cutBytes(stream.body, within))).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  },
);
