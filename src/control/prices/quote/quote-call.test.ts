/** What a quote says besides the cost; the worked cases themselves are in `pricing/cost-cases.test.ts`. */
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { createPriceBook } from '../../../pricing/price-book.ts';
import { PROVIDER_NAMES } from '../../../vocabulary/call-record.ts';
import { formatUsd } from '../../../vocabulary/usd.ts';
import { quoteCall } from './quote-call.ts';
import { type ClassQuoteInput, type NativeQuoteInput, QuoteError, type QuoteInput } from './quote-input.ts';

const NOW_MS = Date.UTC(2026, 10, 28);
const book = createPriceBook();
const JsonObjectSchema = z.record(z.string(), z.json());

function native(fields: Partial<NativeQuoteInput>): NativeQuoteInput {
  return {
    kind: 'native',
    provider: 'openai',
    endpoint: 'POST /v1/responses',
    model: 'gpt-5',
    providerAlias: null,
    requestedAtMs: NOW_MS,
    usage: null,
    response: {},
    context: {},
    ...fields,
  };
}

function inClasses(fields: Partial<ClassQuoteInput>): ClassQuoteInput {
  return {
    kind: 'classes',
    provider: 'openai',
    model: 'gpt-5.4',
    providerAlias: null,
    requestedAtMs: NOW_MS,
    context: {},
    classes: { input: 1_200, cache_read: 800, output: 350 },
    serviceTier: null,
    speed: null,
    inferenceGeo: null,
    ...fields,
  };
}

function quote(input: QuoteInput) {
  const { totalCost, lines, ...rest } = quoteCall(input, book, NOW_MS);
  return {
    ...rest,
    total: totalCost === null ? null : formatUsd(totalCost),
    classes: lines.map((line) => `${line.class} ${line.quantity} = ${line.amount}`),
  };
}

describe('a question that cannot be answered as it was put', () => {
  it.each<[string, Partial<NativeQuoteInput>, string, RegExp]>([
    ['has no method', { endpoint: '/v1/responses' }, 'endpoint_unknown', /write method and path/],
    ['names no endpoint', { endpoint: 'POST /v1/responzes' }, 'endpoint_unknown', /openai has no POST \/v1\/responzes/],
    [
      'names an endpoint of another provider',
      { endpoint: 'POST /model/{id}/converse' },
      'endpoint_unknown',
      /openai has no POST \/model/,
    ],
    ['lacks the usage', {}, 'usage_missing', /Give usage with input_tokens, output_tokens/],
    [
      'lacks the usage of a batch',
      { endpoint: 'POST /v1/batches (output line)' },
      'usage_missing',
      /POST \/v1\/batches \(output line\) report one/,
    ],
    [
      'lacks what stands in place of usage',
      { endpoint: 'POST /v1/audio/speech', model: 'tts-1' },
      'usage_missing',
      /or context with input_characters/,
    ],
    [
      'has the usage of another format',
      { usage: { prompt_tokens: 1_200, completion_tokens: 350 } },
      'usage_unreadable',
      /nothing in it is read from answers of POST \/v1\/responses/,
    ],
    ['has numbers as text', { usage: { input_tokens: '1200' } }, 'usage_unreadable', /nothing in it is read/],
    ['has an empty usage', { usage: {} }, 'usage_unreadable', /nothing in it is read/],
    [
      'has usage where none is read',
      { endpoint: 'POST /v1/videos', usage: { seconds: 8 } },
      'usage_unreadable',
      /the gateway reads none/,
    ],
    ['counts below zero', { usage: { input_tokens: -1 } }, 'usage_invalid', /input_tokens is -1, which is no count/],
    [
      'counts beyond all numbers',
      { usage: { input_tokens: 5, output_tokens_details: { reasoning_tokens: 1e16 } } },
      'usage_invalid',
      /output_tokens_details.reasoning_tokens is 10000000000000000/,
    ],
    [
      'has a path without its model',
      { provider: 'bedrock', endpoint: 'POST /model/{id}/converse', model: null, usage: { inputTokens: 1 } },
      'model_missing',
      /the path has a place for it/,
    ],
  ])('%s', (_what, fields, code, message) => {
    expect(() => quote(native(fields))).toThrow(
      expect.objectContaining({ name: 'QuoteError', code, message: expect.stringMatching(message) }),
    );
  });

  it('has more numbers than any usage', () => {
    const usage = Object.fromEntries(Array.from({ length: 201 }, (_, index) => [`count_${index}`, 1]));
    expect(() => quote(native({ usage }))).toThrow('usage: it has more than 200 numbers.');
  });
});

describe('numbers of a usage that nobody reads', () => {
  it('are named, and a misspelt field among them', () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { cachd_tokens: 80, text_tokens: 100, image_tokens: 0 },
      ouput_tokens: 20,
      total_tokens: 100,
    };
    const { unread, notes, classes, costStatus } = quote(native({ usage }));
    expect(unread).toEqual(['input_tokens_details.cachd_tokens', 'ouput_tokens']);
    expect(notes).toEqual([
      'Of the usage this is not read and had no influence: input_tokens_details.cachd_tokens, ouput_tokens.',
    ]);
    expect({ classes, costStatus }).toEqual({ classes: ['input 100 = 0.000125'], costStatus: 'exact' });
  });

  it('do not include what says the same again', () => {
    const usage = {
      prompt_tokens: 36_100,
      completion_tokens: 1_200,
      total_tokens: 37_300,
      prompt_tokens_details: { cached_tokens: 21_600 },
      prompt_cache_hit_tokens: 21_600,
      prompt_cache_miss_tokens: 14_500,
    };
    const asked = native({ provider: 'deepseek', endpoint: 'POST /chat/completions', model: 'deepseek-v4-pro', usage });
    expect(quote(asked).unread).toEqual([]);
  });
});

describe('what has no price', () => {
  it.each<[string, QuoteInput, readonly object[]]>([
    [
      'because the model is not known',
      inClasses({ model: 'gpt-99' }),
      ['input 1200', 'cache_read 800', 'output 350'].map((entry) => ({
        class: entry.split(' ')[0],
        quantity: Number(entry.split(' ')[1]),
        reason: 'the price book does not know gpt-99 at openai',
      })),
    ],
    [
      'because the model is not known, though its searches would cost what they cost on every model',
      inClasses({ provider: 'anthropic', model: 'claude-opus-9', classes: { input: 10 } }),
      [{ class: 'input', quantity: 10, reason: 'the price book does not know claude-opus-9 at anthropic' }],
    ],
    [
      'because no rate is declared for the class',
      inClasses({ classes: { input: 10, input_characters: 5 } }),
      [{ class: 'input_characters', quantity: 5, reason: 'the price book has no rate of gpt-5.4 for it' }],
    ],
    [
      'because of the terms',
      inClasses({ classes: { input: 10 }, serviceTier: 'scale' }),
      [{ class: 'input', quantity: 10, reason: 'no price is declared for service tier scale' }],
    ],
    [
      'because the length of the prompts is not known',
      native({
        endpoint: 'GET /v1/batches/{id}',
        model: 'gpt-5.4',
        usage: { input_tokens: 300_000, output_tokens: 10 },
      }),
      ['input 300000', 'output 10'].map((entry) => ({
        class: entry.split(' ')[0],
        quantity: Number(entry.split(' ')[1]),
        reason: 'its price depends on the length of the prompt, and none is declared for this one',
      })),
    ],
    [
      'of another model that took part',
      native({
        usage: { input_tokens: 10, output_tokens: 10 },
        response: { tool_usage: { image_gen: { input_tokens: 7, output_tokens: 9 } } },
      }),
      ['input 7', 'output_image 9'].map((entry) => ({
        class: entry.split(' ')[0],
        quantity: Number(entry.split(' ')[1]),
        model: 'unknown',
        purpose: 'image_generation',
        reason: 'the price book does not know unknown at openai',
      })),
    ],
  ])('%s, is told with the reason', (_why, input, unpriced) => {
    const told = quote(input);
    expect(told.unpriced).toEqual(unpriced);
    expect(told.total).toBe(null);
  });
});

test('the classes themselves can be given in place of a usage', () => {
  expect(quote(inClasses({}))).toMatchObject({
    total: '0.00845',
    costStatus: 'exact',
    billingModel: 'gpt-5.4',
    classes: ['input 1200 = 0.003', 'cache_read 800 = 0.0002', 'output 350 = 0.00525'],
    unpriced: [],
    notes: [],
  });
  expect(quote(inClasses({ serviceTier: 'flex' })).total).toBe('0.004229');
  expect(quote(inClasses({ context: { batch: true } })).total).toBe('0.004229');
});

describe('a batch is what its results cost', () => {
  const lineUsage = { prompt_tokens: 20_000, completion_tokens: 4_000 };
  const sumUsage = { input_tokens: 20_000, output_tokens: 4_000 };

  it.each<[string, Partial<NativeQuoteInput>]>([
    ['a line of its output', { endpoint: 'POST /v1/batches (output line)', usage: lineUsage }],
    ['the batch of one request', { endpoint: 'POST /v1/batches', usage: sumUsage }],
    ['the batch as it is fetched', { endpoint: 'GET /v1/batches/{id}', usage: sumUsage }],
    [
      'the endpoint of the line, said to be in a batch',
      {
        endpoint: 'POST /v1/chat/completions',
        usage: lineUsage,
        context: { batch: true },
      },
    ],
  ])('%s', (_what, fields) => {
    expect(quote(native({ model: 'gpt-4o-mini', ...fields }))).toMatchObject({ total: '0.0027', costStatus: 'exact' });
  });

  it('at Google too, where the model stands in the path', () => {
    const asked = native({
      provider: 'gemini',
      endpoint: 'POST /v1beta/models/{model}:batchGenerateContent',
      model: 'gemini-2.5-flash',
      usage: { promptTokenCount: 1_000_000, candidatesTokenCount: 1_000_000 },
    });
    expect(quote(asked)).toMatchObject({ total: '1.4', costStatus: 'exact', billingModel: 'gemini-2.5-flash' });
  });
});

describe('what costs nothing says why', () => {
  it.each<[string, Partial<NativeQuoteInput>, readonly string[]]>([
    ['an endpoint that is free', { endpoint: 'GET /v1/models' }, ['models costs nothing by itself.']],
    [
      'a result that is made later',
      { response: { background: true, id: 'resp_1', status: 'queued' } },
      ['What was asked for is made later; the call that fetches it carries the cost.'],
    ],
    [
      'a copy of an answer',
      { endpoint: 'GET /v1/responses/{id}', usage: { input_tokens: 10, output_tokens: 5 } },
      ['This usage belongs to the call that asked for the result, and is not counted again.'],
    ],
    [
      'a refusal',
      {
        provider: 'anthropic',
        endpoint: 'POST /v1/messages',
        model: 'claude-opus-5',
        usage: { input_tokens: 10, output_tokens: 5 },
        response: { stop_reason: 'refusal', content: [] },
      },
      ['The request was refused before anything was answered.'],
    ],
  ])('%s', (_what, fields, notes) => {
    expect(quote(native(fields))).toMatchObject({
      total: '0',
      costStatus: 'not_billed',
      classes: [],
      unpriced: [],
      notes,
    });
  });
});

test.each<[string, Partial<NativeQuoteInput>, readonly string[]]>([
  [
    'a model in the path as it is',
    {
      provider: 'bedrock',
      endpoint: 'POST /model/us.amazon.nova-lite-v1:0/converse',
      model: null,
      usage: { inputTokens: 10_000, outputTokens: 1_000, totalTokens: 11_000 },
    },
    ['input 10000 = 0.0006', 'output 1000 = 0.00024'],
  ],
  [
    'the counts of a model of Amazon',
    {
      provider: 'bedrock',
      endpoint: 'POST /model/{id}/invoke',
      model: 'amazon.titan-embed-text-v2:0',
      usage: { inputTextTokenCount: 8_000 },
    },
    ['input 8000 = 0.00016'],
  ],
  [
    'writes to the cache of GPT on Bedrock',
    {
      provider: 'bedrock',
      endpoint: 'POST /openai/v1/responses',
      model: 'openai.gpt-6-sol',
      context: { region: 'us-east-1' },
      usage: {
        input_tokens: 12_000,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 10_000 },
        output_tokens: 500,
        total_tokens: 12_500,
      },
    },
    ['input 2000 = 0.0044', 'cache_creation_30m 10000 = 0.0275', 'output 500 = 0.0055'],
  ],
  [
    'a search that is billed by the request',
    { provider: 'deepseek', endpoint: 'POST /tools/search', model: null },
    ['web_search_requests 1 = 0.00075'],
  ],
  [
    'pictures by their number',
    {
      provider: 'gemini',
      endpoint: 'POST /v1beta/models/{model}:predict',
      model: 'imagen-4.0-generate-001',
      context: { n: 3 },
    },
    ['output_images 3 = 0.12'],
  ],
  [
    'speech by its tokens',
    {
      endpoint: 'POST /v1/audio/speech',
      model: 'gpt-4o-mini-tts',
      usage: { input_tokens: 1_000, output_tokens: 1_000 },
    },
    ['input 1000 = 0.0006', 'output_audio 1000 = 0.012'],
  ],
  [
    'an interaction',
    {
      provider: 'gemini',
      endpoint: 'POST /v1beta/interactions',
      model: 'gemini-2.5-flash',
      usage: { total_input_tokens: 1_000_000, total_output_tokens: 0 },
    },
    ['input 1000000 = 0.3'],
  ],
])('%s', (_what, fields, classes) => {
  expect(quote(native(fields))).toMatchObject({ costStatus: 'exact', classes, unread: [] });
});

test('whatever stands in a question, it is answered or refused in words', () => {
  const endpoints = [
    'POST /v1/chat/completions',
    'POST /v1/batches',
    'POST /v1/messages',
    'GET /v1/messages/batches/{id}/results',
    'POST /model/{id}/invoke',
    'POST /v1beta/models/{model}:generateContent',
    'POST /v1beta/interactions',
    'POST /v1/images/edits',
    'POST /v1/audio/speech',
    'POST /v1/videos',
    'POST /tools/search',
  ];
  const names = fc.constantFrom('usage', 'input_tokens', 'prompt_tokens', 'promptTokenCount', 'details', '__proto__');
  const anything = fc.dictionary(names, fc.jsonValue({ maxDepth: 4 }));
  const asked = fc.record({
    provider: fc.constantFrom(...PROVIDER_NAMES),
    endpoint: fc.constantFrom(...endpoints),
    model: fc.option(fc.string({ unit: 'binary' })),
    usage: fc.option(anything),
    response: anything,
  });
  fc.assert(
    fc.property(asked, (fields) => {
      try {
        const usage = JsonObjectSchema.nullable().parse(fields.usage);
        quoteCall(native({ ...fields, usage, response: JsonObjectSchema.parse(fields.response) }), book, NOW_MS);
      } catch (error) {
        expect(error).toBeInstanceOf(QuoteError);
      }
    }),
    { numRuns: 200 },
  );
});
