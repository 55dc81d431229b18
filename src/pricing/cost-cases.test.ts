/** Worked cases: 68 calls whose cost was computed by hand from the providers' price lists, compared string by string. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { PROVIDER_NAMES } from '../call-record.ts';
import type { UsageClass } from '../token-usage.ts';
import { formatUsd } from '../usd.ts';
import type { BillableCall } from './billable-call.ts';
import { multiplyDecimals, parseDecimal } from './decimal.ts';
import { createPriceBook } from './price-book.ts';

const count = z.number().default(0);
const modalities = z.array(z.object({ modality: z.string(), tokenCount: z.number() })).default([]);
const usageSchema = z
  .object({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: z.object({ cached_tokens: count, audio_tokens: count }).prefault({}),
    completion_tokens_details: z.object({ audio_tokens: count }).prefault({}),
    input_tokens: count,
    input_tokens_details: z
      .object({ cached_tokens: count, cache_write_tokens: count, image_tokens: count })
      .prefault({}),
    input_token_details: z.object({ audio_tokens: count }).prefault({}),
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation: z.object({ ephemeral_5m_input_tokens: count, ephemeral_1h_input_tokens: count }).prefault({}),
    service_tier: z.string().nullable().default(null),
    speed: z.string().nullable().default(null),
    inference_geo: z.string().nullable().default(null),
    promptTokenCount: count,
    cachedContentTokenCount: count,
    toolUsePromptTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
    promptTokensDetails: modalities,
    cacheTokensDetails: modalities,
    candidatesTokensDetails: modalities,
    inputTokens: count,
    outputTokens: count,
    cacheReadInputTokens: count,
    cacheWriteInputTokens: count,
    cacheDetails: z.array(z.object({ ttl: z.string(), inputTokens: z.number() })).default([]),
    inputTextTokenCount: count,
    seconds: count,
  })
  .prefault({});
type Usage = z.infer<typeof usageSchema>;

const caseSchema = z.object({
  id: z.string(),
  provider: z.enum(PROVIDER_NAMES),
  endpoint: z.string(),
  model: z.string(),
  requested_at: z.string(),
  context: z.object({ batch: z.boolean().default(false), input_characters: count }),
  usage: z.record(z.string(), z.json()).nullable(),
  response: z.object({
    service_tier: z.string().nullable().default(null),
    output: z.array(z.object({ type: z.string(), action: z.object({ type: z.string() }).optional() })).default([]),
    candidates: z
      .array(z.object({ groundingMetadata: z.object({ webSearchQueries: z.array(z.string()) }) }))
      .default([]),
  }),
  expected_cost_usd: z.string().nullable(),
  expected_components: z
    .array(z.object({ quantity: z.number(), rate_usd: z.string(), per: z.number(), cost_usd: z.string() }))
    .nullable(),
});
type CostCase = z.infer<typeof caseSchema>;

const CASES = z
  .array(caseSchema)
  .parse(JSON.parse(readFileSync(new URL('./cost-cases.json', import.meta.url), 'utf8')));

/** Cases that the usage classes cannot express. A known limit, in data, so that the list cannot grow unseen. */
const OUT_OF_SCOPE: Readonly<Record<string, string>> = {
  'openai-27': 'priced per image by size and quality, taken from the request; the answer has no usage',
};

function countOf(details: Usage['promptTokensDetails'], modality: string): number {
  return details.filter((entry) => entry.modality === modality).reduce((sum, entry) => sum + entry.tokenCount, 0);
}

type Classes = Partial<Record<UsageClass, number>>;

function readOpenai(usage: Usage, costCase: CostCase): Classes {
  const prompt = usage.prompt_tokens_details;
  const input = usage.input_tokens_details;
  const cached = prompt.cached_tokens + input.cached_tokens;
  const inputAudio = prompt.audio_tokens + usage.input_token_details.audio_tokens;
  const outputAudio = usage.completion_tokens_details.audio_tokens;
  const output = usage.completion_tokens + usage.output_tokens;
  const isImage = costCase.endpoint.includes('/images/');
  return {
    input:
      usage.prompt_tokens + usage.input_tokens - cached - inputAudio - input.cache_write_tokens - input.image_tokens,
    input_audio: inputAudio,
    input_image: input.image_tokens,
    input_audio_ms: usage.seconds * 1000,
    input_characters: costCase.context.input_characters,
    cache_read: cached,
    cache_creation_30m: input.cache_write_tokens,
    output: isImage ? 0 : output - outputAudio,
    output_audio: outputAudio,
    output_image: isImage ? output : 0,
    web_search_requests: costCase.response.output.filter((item) => item.action?.type === 'search').length,
  };
}

function readAnthropic(usage: Usage): Classes {
  return {
    input: usage.input_tokens,
    cache_read: usage.cache_read_input_tokens,
    cache_creation_5m: usage.cache_creation.ephemeral_5m_input_tokens,
    cache_creation_1h: usage.cache_creation.ephemeral_1h_input_tokens,
    output: usage.output_tokens,
  };
}

function readGemini(usage: Usage, costCase: CostCase): Classes {
  const audio = countOf(usage.promptTokensDetails, 'AUDIO');
  const cachedAudio = countOf(usage.cacheTokensDetails, 'AUDIO');
  const outputAudio = countOf(usage.candidatesTokensDetails, 'AUDIO');
  const outputImage = countOf(usage.candidatesTokensDetails, 'IMAGE');
  return {
    input: usage.promptTokenCount + usage.toolUsePromptTokenCount - usage.cachedContentTokenCount - audio + cachedAudio,
    input_audio: audio - cachedAudio,
    cache_read: usage.cachedContentTokenCount - cachedAudio,
    cache_read_audio: cachedAudio,
    output: usage.candidatesTokenCount + usage.thoughtsTokenCount - outputAudio - outputImage,
    output_audio: outputAudio,
    output_image: outputImage,
    web_search_requests: costCase.response.candidates.flatMap((entry) => entry.groundingMetadata.webSearchQueries)
      .length,
  };
}

function readConverse(usage: Usage): Classes {
  const hour = usage.cacheDetails
    .filter((entry) => entry.ttl === '1h')
    .reduce((sum, entry) => sum + entry.inputTokens, 0);
  return {
    input: usage.inputTokens + usage.inputTextTokenCount,
    cache_read: usage.cacheReadInputTokens,
    cache_creation_5m: usage.cacheWriteInputTokens - hour,
    cache_creation_1h: hour,
    output: usage.outputTokens,
  };
}

function readClasses(costCase: CostCase): Classes {
  const usage = usageSchema.parse(costCase.usage ?? {});
  if (costCase.provider === 'anthropic' || usage.cache_creation.ephemeral_1h_input_tokens > 0)
    return readAnthropic(usage);
  if (costCase.provider === 'gemini') return readGemini(usage, costCase);
  if (costCase.provider === 'bedrock') return readConverse(usage);
  return readOpenai(usage, costCase);
}

function createCall(costCase: CostCase): BillableCall {
  const usage = usageSchema.parse(costCase.usage ?? {});
  return {
    provider: costCase.provider,
    providerAlias: null,
    endpoint: costCase.endpoint,
    billed: true,
    isLater: false,
    requestedAtMs: Date.parse(costCase.requested_at),
    model: costCase.model,
    modelRequested: costCase.model,
    serviceTier: costCase.response.service_tier ?? usage.service_tier,
    speed: usage.speed,
    inferenceGeo: usage.inference_geo,
    region: null,
    isBatch: costCase.context.batch,
    outcome: 'ok',
    errorType: null,
    status: 200,
    usage: { classes: readClasses(costCase), reasoning: null, native: costCase.usage ?? {} },
    usageSource: 'provider',
  };
}

const book = createPriceBook();

describe('the worked cases', () => {
  it('are 68, and the ones that usage classes cannot express are exactly the listed ones', () => {
    expect(CASES).toHaveLength(68);
    const inexpressible = CASES.filter((costCase) =>
      Object.values(readClasses(costCase)).every((quantity) => quantity === 0),
    );
    expect(inexpressible.map((costCase) => costCase.id)).toEqual(Object.keys(OUT_OF_SCOPE));
  });

  it('never shows a cost for those: without a class that says so, nothing is known to have been used', () => {
    for (const costCase of CASES.filter((entry) => OUT_OF_SCOPE[entry.id] !== undefined)) {
      const usage = { classes: {}, reasoning: null, native: costCase.usage ?? {} };
      expect(book.priceCall({ ...createCall(costCase), usage })).toMatchObject({
        totalCost: null,
        costStatus: 'no_usage',
      });
    }
  });

  const priced = CASES.filter((costCase) => OUT_OF_SCOPE[costCase.id] === undefined);
  it.each(priced.map((costCase) => [costCase.id, costCase] as const))(
    '%s costs what was worked out by hand',
    (_id, costCase) => {
      const result = book.priceCall(createCall(costCase));
      expect(result.totalCost === null ? null : formatUsd(result.totalCost)).toBe(costCase.expected_cost_usd);
      expect(result.costStatus).toBe(costCase.expected_cost_usd === null ? 'unpriced' : 'exact');
      const lines = result.lines.map((line) => ({
        quantity: line.quantity,
        price: multiplyDecimals(parseDecimal(line.rate), parseDecimal(line.multiplier)),
        per: line.per,
        amount: line.amount,
      }));
      const expected = (costCase.expected_components ?? []).map((component) => ({
        quantity: component.quantity,
        price: parseDecimal(component.rate_usd),
        per: component.per,
        amount: component.cost_usd,
      }));
      expect(lines).toHaveLength(expected.length);
      expect(lines).toEqual(expect.arrayContaining(expected));
    },
  );
});
