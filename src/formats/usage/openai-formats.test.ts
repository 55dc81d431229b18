import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

function read(format: UsageFormatName, body: JsonObject): ReportedUsage {
  return USAGE_FORMATS[format].readJson(body, NOTHING_REPORTED);
}

describe('chat completions: totals are taken apart into disjoint classes', () => {
  test.each<[string, JsonObject, object, number | null, string[]]>([
    [
      'plain, with zeros reported',
      {
        prompt_tokens: 1200,
        completion_tokens: 350,
        total_tokens: 1550,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      },
      { input: 1200, input_audio: 0, cache_read: 0, output: 350, output_audio: 0 },
      0,
      [],
    ],
    [
      'plain, without details',
      { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
      { input: 5, output: 2 },
      null,
      [],
    ],
    [
      'cached tokens are inside the prompt',
      {
        prompt_tokens: 20212,
        completion_tokens: 931,
        total_tokens: 21143,
        prompt_tokens_details: { cached_tokens: 16298 },
      },
      { input: 3914, cache_read: 16298, output: 931 },
      null,
      [],
    ],
    [
      'cache writes are inside the prompt',
      {
        prompt_tokens: 26000,
        completion_tokens: 1000,
        total_tokens: 27000,
        prompt_tokens_details: { cached_tokens: 20000, cache_write_tokens: 4000 },
        completion_tokens_details: { reasoning_tokens: 600 },
      },
      { input: 2000, cache_read: 20000, cache_creation_30m: 4000, output: 1000 },
      600,
      [],
    ],
    [
      'audio in and out',
      {
        prompt_tokens: 1000,
        completion_tokens: 400,
        total_tokens: 1400,
        prompt_tokens_details: { cached_tokens: 0, text_tokens: 200, audio_tokens: 800 },
        completion_tokens_details: { reasoning_tokens: 0, text_tokens: 80, audio_tokens: 320 },
      },
      { input: 200, input_audio: 800, cache_read: 0, output: 80, output_audio: 320 },
      0,
      [],
    ],
    [
      'cached tokens are text first, then audio',
      {
        prompt_tokens: 1000,
        completion_tokens: 1,
        total_tokens: 1001,
        prompt_tokens_details: { cached_tokens: 500, audio_tokens: 800 },
      },
      { input: 0, input_audio: 500, cache_read: 200, cache_read_audio: 300, output: 1 },
      null,
      [],
    ],
    [
      'cached tokens at the top level (Together)',
      { prompt_tokens: 4000, completion_tokens: 600, total_tokens: 4600, cached_tokens: 1000 },
      { input: 3000, cache_read: 1000, output: 600 },
      null,
      [],
    ],
    [
      'hits and misses (DeepSeek)',
      {
        prompt_tokens: 60000,
        completion_tokens: 3000,
        total_tokens: 63000,
        prompt_tokens_details: { cached_tokens: 50000 },
        completion_tokens_details: { reasoning_tokens: 1500 },
        prompt_cache_hit_tokens: 50000,
        prompt_cache_miss_tokens: 10000,
        server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
      },
      { input: 10000, cache_read: 50000, output: 3000, web_search_requests: 2, web_fetch_requests: 1 },
      1500,
      [],
    ],
    [
      'hits and misses that do not add up',
      { prompt_tokens: 100, completion_tokens: 3, prompt_cache_hit_tokens: 50, prompt_cache_miss_tokens: 40 },
      { input: 40, cache_read: 50, output: 3 },
      null,
      ['inconsistent'],
    ],
    [
      'reasoning that only the total includes',
      { prompt_tokens: 100, completion_tokens: 20, total_tokens: 220 },
      { input: 100, output: 120 },
      null,
      ['inconsistent'],
    ],
    [
      'a total without a completion count',
      { prompt_tokens: 100, total_tokens: 130 },
      { input: 100, output: 30 },
      null,
      [],
    ],
    ['no output at all', { prompt_tokens: 100, total_tokens: 100 }, { input: 100 }, null, []],
    [
      'more cached than there is',
      { prompt_tokens: 100, completion_tokens: 1, total_tokens: 101, prompt_tokens_details: { cached_tokens: 150 } },
      { input: 0, cache_read: 150, output: 1 },
      null,
      ['inconsistent'],
    ],
    ['a negative count', { prompt_tokens: -3, completion_tokens: 1 }, { input: 0, output: 1 }, null, ['inconsistent']],
    ['text for numbers', { prompt_tokens: '3', completion_tokens: null }, {}, null, ['inconsistent']],
  ])('%s', (name, usage, classes, reasoning, flags) => {
    const reported = read('chat-completions', { object: 'chat.completion', model: 'm', choices: [], usage });
    // Nobody knows which of its numbers is right.
    const doubt = ['more cached than there is', 'a negative count', 'text for numbers'].includes(name)
      ? { isIncomplete: true }
      : {};
    expect(reported.usage).toEqual({ classes, reasoning, native: usage, ...doubt });
    expect(reported.flags).toEqual(flags);
    expect(reported.terminal).toBe(true);
    expect(reported.model).toBe('m');
  });

  test('Fireworks reports the cached part in its performance metrics, as text', () => {
    const usage = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105 };
    const perf_metrics = { 'fireworks-cached-prompt-tokens': '64', 'fireworks-server-processing-time': '0.2' };
    const reported = read('chat-completions', { model: 'm', usage, perf_metrics });
    expect(reported.usage).toEqual({
      classes: { input: 36, cache_read: 64, output: 5 },
      reasoning: null,
      native: { ...usage, perf_metrics },
    });
  });

  test('a model that searches before every answer has searched once', () => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const classes = { input: 10, output: 5, web_search_requests: 1 };
    for (const model of ['gpt-4o-mini-search-preview-2025-03-11', 'gpt-5-search-api'])
      expect(read('chat-completions', { model, usage }).usage?.classes).toEqual(classes);
  });

  test('tier and model come from the answer, noise is ignored, null usage is no usage', () => {
    const body = { model: 'gpt-5', service_tier: 'flex', x_groq: { usage: { prompt_tokens: 9 } }, usage: null };
    expect(read('chat-completions', body)).toEqual({
      ...NOTHING_REPORTED,
      model: 'gpt-5',
      serviceTier: 'flex',
      terminal: true,
    });
  });

  test('an error in a body is read whatever the status', () => {
    const body = { error: { message: 'over quota', type: 'insufficient_quota', code: 'x', param: null } };
    expect(read('chat-completions', body).error).toEqual({ type: 'insufficient_quota', message: 'over quota' });
  });
});

describe('embeddings: all tokens are input', () => {
  test.each<[string, JsonObject, object | null]>([
    ['OpenAI', { model: 'm', data: [], usage: { prompt_tokens: 12500, total_tokens: 12500 } }, { input: 12500 }],
    ['only a total', { usage: { total_tokens: 7 } }, { input: 7 }],
    ['Google', { embeddings: [], usageMetadata: { promptTokenCount: 8 } }, { input: 8 }],
    ['Amazon Titan', { embedding: [0.5], inputTextTokenCount: 8000 }, { input: 8000 }],
    ['a reported zero', { usage: { prompt_tokens: 0, total_tokens: 0 } }, { input: 0 }],
    ['none', { embeddings: [] }, null],
  ])('%s', (_, body, classes) => {
    expect(read('embeddings', body).usage?.classes ?? null).toEqual(classes);
  });
});

describe('a chat completion whose usage stands in a choice', () => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
  const chunk = (index: number, more: JsonObject = {}) => ({
    model: 'kimi',
    choices: [{ index, delta: {}, usage }],
    ...more,
  });
  const readEvents = (...events: JsonObject[]) =>
    events.reduce<ReportedUsage>(
      (seen, event) => USAGE_FORMATS['chat-completions'].readEvent(null, event, seen),
      NOTHING_REPORTED,
    );

  test('is read, in a stream and whole', () => {
    const counted = { classes: { input: 1_000, output: 100 } };
    const stream = readEvents({ choices: [{ index: 0, delta: { content: 'a' } }] }, chunk(0), {
      choices: [],
      usage: null,
    });
    expect(stream.usage).toMatchObject(counted);
    expect(stream.usage?.isIncomplete).toBeUndefined();
    expect(read('chat-completions', chunk(0)).usage).toMatchObject(counted);
    expect(USAGE_FORMATS['chat-completions'].mayMatter(Buffer.from(JSON.stringify(chunk(0))))).toBe(true);
  });

  test('is known in part where there are several choices, until the whole is told', () => {
    expect(readEvents(chunk(0), chunk(1)).usage).toMatchObject({ isIncomplete: true });
    expect(
      readEvents({
        choices: [
          { index: 0, usage },
          { index: 1, usage },
        ],
      }).usage,
    ).toMatchObject({ isIncomplete: true });
    const told = readEvents(chunk(0), chunk(1), {
      choices: [],
      usage: { ...usage, completion_tokens: 200, total_tokens: 1_200 },
    });
    expect(told.usage).toMatchObject({ classes: { input: 1_000, output: 200 } });
    expect(told.usage?.isIncomplete).toBeUndefined();
  });

  test('gives way to the usage of the whole beside it', () => {
    const own = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8 };
    expect(readEvents(chunk(0, { usage: own })).usage?.classes).toEqual({ input: 7, output: 1 });
  });
});
