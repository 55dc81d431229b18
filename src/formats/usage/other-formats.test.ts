import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

function read(format: UsageFormatName, body: JsonObject): ReportedUsage {
  return USAGE_FORMATS[format].readJson(body, NOTHING_REPORTED);
}

function readEvents(format: UsageFormatName, events: readonly JsonObject[]): ReportedUsage {
  return events.reduce((reported, event) => USAGE_FORMATS[format].readEvent(null, event, reported), NOTHING_REPORTED);
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
    const reported = read('messages', { type: 'message', model: 'claude-sonnet-5', usage });
    expect(reported.usage).toEqual({ classes, reasoning, native: usage });
    expect(reported.flags).toEqual(flags);
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
      'a cut stream keeps the input that it began with, and not what stood in the place of its output',
      [start({ input_tokens: 15, output_tokens: 1 })],
      { input: 15 },
    ],
  ])('of a stream, %s', (_, events, classes) => {
    expect(readEvents('messages', events).usage?.classes).toEqual(classes);
  });

  test('an error event is an error', () => {
    const event = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    expect(readEvents('messages', [event])).toEqual({
      ...NOTHING_REPORTED,
      error: { type: 'overloaded_error', message: 'Overloaded' },
    });
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
    expect(USAGE_FORMATS.converse.readEvent('metadata', event, NOTHING_REPORTED)).toEqual(whole);
  });

  test('token counting', () => {
    const cacheDetails = [
      { ttl: '1h', inputTokens: 300 },
      { ttl: '5m', inputTokens: 20 },
    ];
    const split = { inputTokens: 10, outputTokens: 5, totalTokens: 335, cacheDetails };
    expect(read('converse', { usage: split })).toMatchObject({
      usage: { classes: { input: 10, cache_creation_1h: 300, cache_creation_5m: 20, output: 5 } },
      flags: [],
    });
    expect(read('converse', { inputTokens: 17 }).usage?.classes).toEqual({ input: 17 });
  });
});

test('no format throws or invents usage on any JSON', () => {
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
    fc.property(fc.constantFrom(...Object.values(USAGE_FORMATS)), anything, (format, value) => {
      const json = JSON.parse(JSON.stringify(value));
      for (const reported of [
        format.readJson(json, NOTHING_REPORTED),
        format.readEvent(null, json, NOTHING_REPORTED),
      ]) {
        for (const quantity of Object.values(reported.usage?.classes ?? {})) {
          expect(Number.isSafeInteger(quantity) && quantity >= 0).toBe(true);
        }
      }
    }),
  );
});

test('what Converse or OpenAI wrote for a lifetime that is not known is in no class, and the usage says so', () => {
  const cacheDetails = [
    { ttl: '5m', inputTokens: 100 },
    { ttl: '24h', inputTokens: 900 },
  ];
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 1015, cacheWriteInputTokens: 1000, cacheDetails };
  expect(USAGE_FORMATS.converse.readJson({ usage }, NOTHING_REPORTED).usage).toMatchObject({
    classes: { cache_creation_5m: 100 },
    isIncomplete: true,
  });
  const prompt_tokens_details = { cache_write_tokens: 1000, cache_write_tokens_details: { ttl_24h_tokens: 900 } };
  const chat = { prompt_tokens: 1010, completion_tokens: 5, total_tokens: 1015, prompt_tokens_details };
  expect(USAGE_FORMATS['chat-completions'].readJson({ usage: chat }, NOTHING_REPORTED).usage).toMatchObject({
    classes: { input: 10, cache_creation_30m: 100, output: 5 },
    isIncomplete: true,
  });
});
