/** What each model family on Bedrock's invoke reports, as JSON and in chunks, and which of several counts is taken. */
import { describe, expect, test } from 'vitest';
import type { JsonObject, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { invoke } from './invoke.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

type Headers = Readonly<Record<string, string>>;

function open(headers: Headers = {}): ReportedUsage {
  return invoke.readHead?.((name) => headers[name] ?? null, NOTHING_REPORTED) ?? NOTHING_REPORTED;
}

function readBody(body: JsonObject, headers: Headers = {}): ReportedUsage {
  return invoke.readJson(body, open(headers));
}

function readChunks(chunks: readonly JsonObject[]): ReportedUsage {
  return chunks.reduce((reported, chunk) => invoke.readEvent(null, chunk, reported), open());
}

const metrics = (input: number, output: number, cache: JsonObject = {}): JsonObject => ({
  'amazon-bedrock-invocationMetrics': {
    inputTokenCount: input,
    outputTokenCount: output,
    invocationLatency: 900,
    firstByteLatency: 300,
    ...cache,
  },
});

const counts = (input: number, output: number): Headers => ({
  'x-amzn-bedrock-input-token-count': String(input),
  'x-amzn-bedrock-output-token-count': String(output),
});

describe('a JSON answer is read by its form', () => {
  test.each<[string, JsonObject, object]>([
    [
      'Claude',
      {
        type: 'message',
        model: 'claude-haiku-4-5-20251001',
        content: [{ type: 'text', text: 'hi' }],
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 300,
          cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
          cache_read_input_tokens: 40,
          output_tokens: 9,
        },
      },
      { input: 12, cache_read: 40, cache_creation_5m: 100, cache_creation_1h: 200, output: 9 },
    ],
    [
      'Nova, whose cache has names of its own',
      {
        output: { message: { role: 'assistant', content: [{ text: 'hi' }] } },
        stopReason: 'end_turn',
        usage: {
          inputTokens: 7,
          outputTokens: 5,
          totalTokens: 1036,
          cacheReadInputTokenCount: 1024,
          cacheWriteInputTokenCount: 0,
        },
      },
      { input: 7, cache_read: 1024, cache_creation_5m: 0, output: 5 },
    ],
    [
      'Titan text',
      { inputTextTokenCount: 5, results: [{ tokenCount: 50, outputText: 'hi', completionReason: 'FINISH' }] },
      { input: 5, output: 50 },
    ],
    ['a Titan embedding', { embedding: [0.1, 0.2], inputTextTokenCount: 8 }, { input: 8 }],
    ['Llama', { generation: 'hi', prompt_token_count: 25, generation_token_count: 30 }, { input: 25, output: 30 }],
    [
      'Jamba, DeepSeek, Mistral and gpt-oss, in the format of chat completions',
      {
        choices: [{ message: { content: 'hi' } }],
        model: 'gpt-oss',
        usage: {
          prompt_tokens: 70,
          completion_tokens: 12,
          total_tokens: 82,
          prompt_tokens_details: { cached_tokens: 20 },
        },
      },
      { input: 50, cache_read: 20, output: 12 },
    ],
    [
      'Cohere Command R, when it says what is billed',
      { text: 'hi', meta: { billed_units: { input_tokens: 3, output_tokens: 4 } } },
      { input: 3, output: 4 },
    ],
    ['pictures of Nova Canvas and Titan', { images: ['aGk=', 'aGk='], error: null }, { output_images: 2 }],
  ])('%s', (_, body, classes) => {
    const reported = readBody(body);
    expect(reported.usage?.classes).toEqual(classes);
    expect(reported).toMatchObject({ terminal: true, flags: [], error: null });
  });

  test('a body that counts nothing says so', () => {
    expect(readBody({ outputs: [{ text: 'hi', stop_reason: 'stop' }] }).usage).toBeNull();
  });

  test("Claude's answer names its model", () => {
    expect(readBody({ model: 'claude-opus-5', usage: { input_tokens: 1 } }).model).toBe('claude-opus-5');
  });
});

describe('headers of the answer', () => {
  test('count where the body counts nothing: Cohere, older Mistral', () => {
    const headers = { ...counts(17, 6), 'x-amzn-bedrock-cache-read-input-token-count': '4' };
    const reported = readBody({ embeddings: [[0.5]] }, headers);
    expect(reported.usage?.classes).toEqual({ input: 17, output: 6, cache_read: 4 });
    expect(reported.usage?.native).toEqual({
      response_headers: {
        'x-amzn-bedrock-input-token-count': 17,
        'x-amzn-bedrock-output-token-count': 6,
        'x-amzn-bedrock-cache-read-input-token-count': 4,
      },
    });
  });

  test.each<[string, number, string[]]>([
    ['agree with the body and are not counted twice', 25, []],
    ['disagree with the body, which is counted, and are remarked', 26, ['inconsistent']],
  ])('%s', (_, input, flags) => {
    const reported = readBody({ prompt_token_count: 25, generation_token_count: 30 }, counts(input, 30));
    expect(reported.usage?.classes).toEqual({ input: 25, output: 30 });
    expect(reported.flags).toEqual(flags);
  });

  test('say the tier and the latency that were billed, whatever the body says', () => {
    const headers = {
      'x-amzn-bedrock-service-tier': 'flex',
      'x-amzn-bedrock-performanceconfig-latency': 'optimized',
    };
    const reported = readBody({ usage: { input_tokens: 1, output_tokens: 1, service_tier: 'standard' } }, headers);
    expect(reported).toMatchObject({ serviceTier: 'flex', speed: 'optimized' });
  });

  test('that are not numbers are passed over', () => {
    expect(open({ 'x-amzn-bedrock-input-token-count': 'many' })).toBe(NOTHING_REPORTED);
  });
});

describe('the chunks of a stream', () => {
  test.each<[string, readonly JsonObject[], object]>([
    [
      'Claude: the events of its own format, and the metrics in the last of them',
      [
        {
          type: 'message_start',
          message: { model: 'claude-haiku-4-5', usage: { input_tokens: 12, output_tokens: 1 } },
        },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'hi' } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
        { type: 'message_stop', ...metrics(12, 9, { cacheReadInputTokenCount: 0, cacheWriteInputTokenCount: 0 }) },
      ],
      { input: 12, output: 9 },
    ],
    [
      'Nova: usage in the metadata, and the metrics beside it',
      [
        { messageStart: { role: 'assistant' } },
        { contentBlockDelta: { delta: { text: 'hi' }, contentBlockIndex: 0 } },
        { messageStop: { stopReason: 'end_turn' } },
        {
          metadata: {
            usage: { inputTokens: 7, outputTokens: 5, cacheReadInputTokenCount: 0, cacheWriteInputTokenCount: 0 },
            metrics: {},
            trace: {},
          },
          ...metrics(7, 5),
        },
      ],
      { input: 7, cache_read: 0, cache_creation_5m: 0, output: 5 },
    ],
    [
      'Llama: running totals, where null erases nothing',
      [
        { generation: 'h', prompt_token_count: 25, generation_token_count: 1, stop_reason: null },
        {
          generation: 'i',
          prompt_token_count: null,
          generation_token_count: 2,
          stop_reason: 'stop',
          ...metrics(25, 2),
        },
      ],
      { input: 25, output: 2 },
    ],
    [
      'Titan: the total on the last chunk',
      [
        { outputText: 'h', index: 0, totalOutputTextTokenCount: null, completionReason: null, inputTextTokenCount: 5 },
        {
          outputText: 'i',
          index: 1,
          totalOutputTextTokenCount: 60,
          completionReason: 'FINISH',
          inputTextTokenCount: 5,
          ...metrics(5, 60),
        },
      ],
      { input: 5, output: 60 },
    ],
    [
      'Cohere and Mistral: the metrics alone',
      [
        { text: 'hi', is_finished: false },
        { is_finished: true, ...metrics(17, 6, { cacheReadInputTokenCount: 2 }) },
      ],
      { input: 17, cache_read: 2, output: 6 },
    ],
    [
      'chat completions',
      [
        { choices: [{ delta: { content: 'hi' } }], model: 'openai.gpt-oss-120b-1:0' },
        { choices: [], usage: { prompt_tokens: 70, completion_tokens: 12, total_tokens: 82 }, ...metrics(70, 12) },
      ],
      { input: 70, output: 12 },
    ],
  ])('%s', (_, chunks, classes) => {
    const reported = readChunks(chunks);
    expect(reported.usage?.classes).toEqual(classes);
    expect(reported).toMatchObject({ terminal: true, flags: [] });
    // Skipping what looks unimportant changes nothing.
    expect(readChunks(chunks.filter((chunk) => invoke.mayMatter(Buffer.from(JSON.stringify(chunk))))).usage).toEqual(
      reported.usage,
    );
  });

  test('metrics that disagree with the usage are remarked and not counted', () => {
    const reported = readChunks([
      { type: 'message_start', message: { usage: { input_tokens: 12, output_tokens: 1 } } },
      { type: 'message_delta', usage: { output_tokens: 9 } },
      { type: 'message_stop', ...metrics(12, 10) },
    ]);
    expect(reported.usage?.classes).toEqual({ input: 12, output: 9 });
    expect(reported.flags).toEqual(['inconsistent']);
  });

  test('metrics whose input includes the cache agree', () => {
    const usage = { input_tokens: 12, cache_read_input_tokens: 30, output_tokens: 9 };
    const reported = readChunks([
      { type: 'message_start', message: { usage } },
      { type: 'message_stop', ...metrics(42, 9) },
    ]);
    expect(reported.flags).toEqual([]);
  });

  test('cut before the last, they keep what was reported and are not at their end', () => {
    const reported = readChunks([{ generation: 'h', prompt_token_count: 25, generation_token_count: 1 }]);
    expect(reported.usage?.classes).toEqual({ input: 25, output: 1 });
    expect(reported.terminal).toBe(false);
  });
});
