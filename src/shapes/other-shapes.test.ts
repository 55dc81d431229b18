import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, UsageReading } from '../token-usage.ts';
import { EMPTY_READING } from './reading.ts';
import { SHAPES } from './registry.ts';
import type { ShapeName } from './shape.ts';

function read(shape: ShapeName, body: JsonObject): UsageReading {
  return SHAPES[shape].readJson(body, EMPTY_READING);
}

function readEvents(shape: ShapeName, events: readonly JsonObject[]): UsageReading {
  return events.reduce((reading, event) => SHAPES[shape].readEvent(null, event, reading), EMPTY_READING);
}

describe('messages: counts are disjoint already', () => {
  test.each<[string, JsonObject, object, number | null, string[]]>([
    [
      'cache writes of five minutes',
      {
        input_tokens: 3,
        cache_creation_input_tokens: 12304,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 12304, ephemeral_1h_input_tokens: 0 },
        output_tokens: 550,
      },
      { input: 3, cache_read: 0, cache_creation_5m: 12304, cache_creation_1h: 0, output: 550 },
      null,
      [],
    ],
    [
      'cache writes of one hour',
      {
        input_tokens: 40,
        cache_creation_input_tokens: 20000,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 20000 },
        output_tokens: 600,
      },
      { input: 40, cache_creation_5m: 0, cache_creation_1h: 20000, output: 600 },
      null,
      [],
    ],
    [
      'cache writes without a split are of five minutes',
      { input_tokens: 4, cache_creation_input_tokens: 100, cache_read_input_tokens: 7, output_tokens: 1 },
      { input: 4, cache_read: 7, cache_creation_5m: 100, output: 1 },
      null,
      [],
    ],
    [
      'a split that does not add up',
      {
        input_tokens: 4,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 1,
      },
      { input: 4, cache_creation_5m: 80, cache_creation_1h: 20, output: 1 },
      null,
      ['inconsistent'],
    ],
    [
      'thinking and server tools',
      {
        input_tokens: 800,
        output_tokens: 2000,
        output_tokens_details: { thinking_tokens: 1200 },
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 },
      },
      { input: 800, output: 2000, web_search_requests: 2, web_fetch_requests: 0 },
      1200,
      [],
    ],
  ])('%s', (_, usage, classes, reasoning, flags) => {
    const reading = read('messages', { type: 'message', model: 'claude-sonnet-5', usage });
    expect(reading.usage).toEqual({ classes, reasoning, native: usage });
    expect(reading.flags).toEqual(flags);
  });

  test('tier, speed and place of inference stand in the usage', () => {
    const usage = { input_tokens: 1, output_tokens: 2, service_tier: 'batch', speed: 'fast', inference_geo: 'us' };
    expect(read('messages', { model: 'claude-opus-5', usage })).toMatchObject({
      model: 'claude-opus-5',
      serviceTier: 'batch',
      speed: 'fast',
      inferenceGeo: 'us',
    });
  });

  test('token counting reports its count at the top level', () => {
    expect(read('messages', { input_tokens: 2095 }).usage).toEqual({
      classes: { input: 2095 },
      reasoning: null,
      native: { input_tokens: 2095 },
    });
  });

  const start = (usage: JsonObject): JsonObject => ({ type: 'message_start', message: { model: 'claude', usage } });
  const delta = (usage: JsonObject): JsonObject => ({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn' },
    usage,
  });

  test.each<[string, readonly JsonObject[], object]>([
    [
      'start and delta are never added',
      [
        start({ input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 1 }),
        delta({ input_tokens: 9, cache_read_input_tokens: 1, output_tokens: 16 }),
      ],
      { input: 9, cache_read: 1, output: 16 },
    ],
    [
      'a zero does not erase',
      [start({ input_tokens: 15, output_tokens: 1 }), delta({ input_tokens: 0, output_tokens: 7 })],
      { input: 15, output: 7 },
    ],
    [
      'absence does not erase',
      [start({ input_tokens: 15, output_tokens: 1 }), delta({ output_tokens: 7 })],
      { input: 15, output: 7 },
    ],
    [
      'null does not erase',
      [start({ input_tokens: 15, output_tokens: 1 }), delta({ input_tokens: null, output_tokens: 7 })],
      { input: 15, output: 7 },
    ],
    [
      'the latest of several deltas wins',
      [
        start({ input_tokens: 15, output_tokens: 1 }),
        delta({ output_tokens: 7 }),
        delta({ input_tokens: 20, output_tokens: 9 }),
      ],
      { input: 20, output: 9 },
    ],
    [
      'a cut stream keeps what it began with',
      [start({ input_tokens: 15, output_tokens: 1 })],
      { input: 15, output: 1 },
    ],
  ])('of a stream, %s', (_, events, classes) => {
    expect(readEvents('messages', events).usage?.classes).toEqual(classes);
  });

  test('an error event is an error', () => {
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(readEvents('messages', [event])).toEqual({
      ...EMPTY_READING,
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
  });
});

describe('generateContent: thoughts and tool results stand beside the totals', () => {
  test.each<[string, JsonObject, object, number | null, string[]]>([
    [
      'thoughts',
      { promptTokenCount: 55021, candidatesTokenCount: 923, thoughtsTokenCount: 785, totalTokenCount: 56729 },
      { input: 55021, output: 1708 },
      785,
      [],
    ],
    [
      'audio in',
      {
        promptTokenCount: 3400,
        candidatesTokenCount: 150,
        totalTokenCount: 3550,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 200 },
          { modality: 'AUDIO', tokenCount: 3200 },
        ],
      },
      { input: 200, input_audio: 3200, output: 150 },
      null,
      [],
    ],
    [
      'cached audio',
      {
        promptTokenCount: 5000,
        cachedContentTokenCount: 3000,
        candidatesTokenCount: 200,
        totalTokenCount: 5200,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 1000 },
          { modality: 'AUDIO', tokenCount: 4000 },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: 500 },
          { modality: 'AUDIO', tokenCount: 2500 },
        ],
      },
      { input: 500, input_audio: 1500, cache_read: 500, cache_read_audio: 2500, output: 200 },
      null,
      [],
    ],
    [
      'tool results are more input',
      {
        promptTokenCount: 700,
        toolUsePromptTokenCount: 1500,
        candidatesTokenCount: 300,
        thoughtsTokenCount: 100,
        totalTokenCount: 2600,
        toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 1500 }],
      },
      { input: 2200, output: 400 },
      100,
      [],
    ],
    [
      'images and video in, documents are text',
      {
        promptTokenCount: 1000,
        candidatesTokenCount: 1,
        totalTokenCount: 1001,
        promptTokensDetails: [
          { modality: 'IMAGE', tokenCount: 258 },
          { modality: 'VIDEO', tokenCount: 500 },
          { modality: 'DOCUMENT', tokenCount: 200 },
          { modality: 'TEXT', tokenCount: 42 },
        ],
      },
      { input: 242, input_image: 258, input_video: 500, output: 1 },
      null,
      [],
    ],
    [
      'image out',
      {
        promptTokenCount: 20,
        candidatesTokenCount: 1290,
        totalTokenCount: 1310,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
      },
      { input: 20, output: 0, output_image: 1290 },
      null,
      [],
    ],
    [
      'audio out',
      {
        promptTokenCount: 40,
        candidatesTokenCount: 800,
        totalTokenCount: 840,
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }],
      },
      { input: 40, output: 0, output_audio: 800 },
      null,
      [],
    ],
    ['no output (blocked)', { promptTokenCount: 9, totalTokenCount: 9 }, { input: 9 }, null, []],
    [
      'a total that does not add up',
      { promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 99 },
      { input: 9, output: 1 },
      null,
      ['inconsistent'],
    ],
  ])('%s', (_, usageMetadata, classes, reasoning, flags) => {
    const reading = read('generate-content', { candidates: [], usageMetadata, modelVersion: 'gemini-2.5-pro' });
    expect(reading.usage).toEqual({ classes, reasoning, native: usageMetadata });
    expect(reading.flags).toEqual(flags);
    expect(reading.model).toBe('gemini-2.5-pro');
  });

  test('search queries are counted, and the tier is the traffic type', () => {
    const reading = read('generate-content', {
      candidates: [{ groundingMetadata: { webSearchQueries: ['a', 'b'] } }],
      usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 500, trafficType: 'ON_DEMAND_FLEX' },
    });
    expect(reading.usage?.classes).toEqual({ input: 1200, output: 500, web_search_requests: 2 });
    expect(reading.serviceTier).toBe('ON_DEMAND_FLEX');
  });

  test('streams report running totals: the last wins, and queries are not counted twice', () => {
    const candidates = [{ groundingMetadata: { webSearchQueries: ['a'] } }];
    const reading = readEvents('generate-content', [
      { usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 } },
      { candidates, usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 } },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 5, totalTokenCount: 13 },
      },
    ]);
    expect(reading.usage?.classes).toEqual({ input: 8, output: 5, web_search_requests: 1 });
    expect(reading.terminal).toBe(true);
    expect(reading.flags).toEqual([]);
  });

  test('interactions use names of their own', () => {
    const usage = {
      total_input_tokens: 100,
      total_cached_tokens: 40,
      total_tool_use_tokens: 10,
      total_output_tokens: 20,
      total_thought_tokens: 5,
      total_tokens: 135,
      input_tokens_by_modality: [{ modality: 'image', tokens: 30 }],
      grounding_tool_count: [{ type: 'google_search', count: 2 }],
    };
    const whole = read('generate-content', { id: 'i', model: 'gemini-3', status: 'completed', usage });
    expect(whole.usage).toEqual({
      classes: { input: 40, input_image: 30, cache_read: 40, output: 25, web_search_requests: 2 },
      reasoning: 5,
      native: usage,
    });
    const event = { event_type: 'interaction.completed', interaction: { model: 'gemini-3', usage } };
    expect(readEvents('generate-content', [event])).toEqual(whole);
  });

  test('token counting is a total and nothing else', () => {
    expect(read('generate-content', { totalTokens: 31 }).usage?.classes).toEqual({ input: 31 });
  });
});

describe('Converse', () => {
  test.each<[string, JsonObject, object, string[]]>([
    [
      'input is uncached',
      {
        inputTokens: 1200,
        outputTokens: 800,
        totalTokens: 37000,
        cacheReadInputTokens: 30000,
        cacheWriteInputTokens: 5000,
      },
      { input: 1200, cache_read: 30000, cache_creation_5m: 5000, output: 800 },
      [],
    ],
    [
      'writes by lifetime',
      {
        inputTokens: 10,
        outputTokens: 200,
        totalTokens: 9092,
        cacheReadInputTokens: 0,
        cacheWriteInputTokens: 8882,
        cacheDetails: [
          { ttl: '1h', inputTokens: 8000 },
          { ttl: '5m', inputTokens: 882 },
        ],
      },
      { input: 10, cache_read: 0, cache_creation_5m: 882, cache_creation_1h: 8000, output: 200 },
      [],
    ],
    ['no cache', { inputTokens: 30, outputTokens: 628, totalTokens: 658 }, { input: 30, output: 628 }, []],
    [
      'input that the total proves to include the cache',
      { inputTokens: 4995, outputTokens: 10, totalTokens: 5005, cacheReadInputTokens: 0, cacheWriteInputTokens: 4993 },
      { input: 2, cache_read: 0, cache_creation_5m: 4993, output: 10 },
      ['inconsistent'],
    ],
  ])('%s', (_, usage, classes, flags) => {
    const whole = read('converse', { output: {}, usage, serviceTier: { type: 'flex' } });
    expect(whole.usage).toEqual({ classes, reasoning: null, native: usage });
    expect(whole).toMatchObject({ flags, model: null, serviceTier: 'flex', terminal: true });
    const event = { usage, metrics: { latencyMs: 5 }, serviceTier: { type: 'flex' } };
    expect(SHAPES.converse.readEvent('metadata', event, EMPTY_READING)).toEqual(whole);
  });

  test('token counting', () => {
    expect(read('converse', { inputTokens: 17 }).usage?.classes).toEqual({ input: 17 });
  });
});

test('no shape throws or invents usage on any JSON', () => {
  const name = fc.constantFrom(
    'usage',
    'usageMetadata',
    'message',
    'type',
    'choices',
    'input_tokens',
    'error',
    'iterations',
    '__proto__',
  );
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(name, fc.oneof(fc.jsonValue(), fc.dictionary(name, fc.jsonValue()))),
  );
  fc.assert(
    fc.property(fc.constantFrom(...Object.values(SHAPES)), anything, (shape, value) => {
      const json = JSON.parse(JSON.stringify(value));
      for (const reading of [shape.readJson(json, EMPTY_READING), shape.readEvent(null, json, EMPTY_READING)]) {
        for (const quantity of Object.values(reading.usage?.classes ?? {})) {
          expect(Number.isSafeInteger(quantity) && quantity >= 0).toBe(true);
        }
      }
    }),
  );
});
