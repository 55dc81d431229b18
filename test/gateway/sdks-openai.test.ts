import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  checkCase,
  checkRefusal,
  checkRetry,
  collect,
  KEY_MESSAGE,
  REFUSED_RECORD,
  readErrorHeader,
  type SdkCase,
} from './sdk-cases.ts';
import {
  answerFixture,
  type SdkCall,
  type SdkComparison,
  type SdkConnection,
  startSdkComparison,
} from './sdk-comparison.ts';

let comparison: SdkComparison;
beforeAll(async () => {
  comparison = await startSdkComparison();
});
afterAll(() => comparison.stop());

function connect({ origin, headers, retries, fetch }: SdkConnection): OpenAI {
  return new OpenAI({
    apiKey: 'sk-placeholder',
    baseURL: `${origin}/v1`,
    defaultHeaders: headers,
    maxRetries: retries,
    fetch,
  });
}

const HELLO = [{ role: 'user', content: 'What does a toll gate count?' }] as const;
const TOOLS: OpenAI.ChatCompletionTool[] = [
  {
    type: 'function',
    function: { name: 'read_toll', parameters: { type: 'object', properties: { road: { type: 'string' } } } },
  },
];
const chat: SdkCall = (at) => connect(at).chat.completions.create({ model: 'gpt-4o-mini', messages: [...HELLO] });
const streamChat: SdkCall = async (at) =>
  collect(await connect(at).chat.completions.create({ model: 'gpt-4o-mini', messages: [...HELLO], stream: true }));

const PRICED = { provider: 'openai', outcome: 'ok', usage_source: 'provider', cost_status: 'exact' } as const;

const CASES: readonly SdkCase[] = [
  {
    title: 'chat',
    answer: 'openai/chat',
    call: chat,
    result: { id: 'chatcmpl-DemoJson0001', usage: { prompt_tokens: 14, completion_tokens: 41 } },
    record: {
      ...PRICED,
      endpoint: 'chat.completions',
      client: 'OpenAI/JS',
      model: 'gpt-4o-mini-2024-07-18',
      model_requested: 'gpt-4o-mini',
      streamed: null,
      attempt: 0,
      provider_request_id: 'req_demo_0001',
      input_tokens: 14,
      cache_read_input_tokens: 0,
      output_tokens: 41,
      reasoning_tokens: 0,
      // 14 × 0.15 + 41 × 0.6 per million
      total_cost: '0.0000267',
    },
  },
  {
    title: 'a chat stream that asks for usage itself, with a tool call in pieces',
    answer: 'openai/chat-tool-call-stream',
    call: async (at) => {
      const chunks = await collect(
        await connect(at).chat.completions.create({
          model: 'gpt-5-mini',
          messages: [...HELLO],
          tools: TOOLS,
          stream: true,
          stream_options: { include_usage: true },
        }),
      );
      const pieces = chunks.map((chunk) => chunk.choices[0]?.delta.tool_calls?.[0]?.function?.arguments ?? '');
      return { chunks, toolArguments: pieces.join('') };
    },
    result: { toolArguments: '{"road":"A1 – München"}' },
    record: {
      ...PRICED,
      endpoint: 'chat.completions',
      model: 'gpt-5-mini-2025-08-07',
      streamed: true,
      flags: [],
      input_tokens: 5,
      cache_read_input_tokens: 128,
      output_tokens: 88,
      reasoning_tokens: 64,
      // 5 × 0.25 + 128 × 0.025 + 88 × 2 per million
      total_cost: '0.00018045',
    },
  },
  {
    title: 'a chat with a tool call',
    answer: 'openai/chat-tool-call',
    call: (at) => connect(at).chat.completions.create({ model: 'gpt-5-mini', messages: [...HELLO], tools: TOOLS }),
    result: {
      choices: [{ message: { tool_calls: [{ function: { name: 'read_toll', arguments: '{"road":"A1"}' } }] } }],
    },
    record: {
      ...PRICED,
      endpoint: 'chat.completions',
      model: 'gpt-5-mini-2025-08-07',
      input_tokens: 133,
      cache_read_input_tokens: 0,
      output_tokens: 85,
      reasoning_tokens: 64,
      // 133 × 0.25 + 85 × 2 per million
      total_cost: '0.00020325',
    },
  },
  {
    title: 'a response',
    answer: 'openai/responses',
    call: (at) => connect(at).responses.create({ model: 'gpt-5-mini', input: 'Greet the demo.' }),
    result: { output_text: 'Tollgate demo: Antworten, réponses, 回答 – all of them metered.' },
    record: {
      ...PRICED,
      endpoint: 'responses',
      model: 'gpt-5-mini-2025-08-07',
      model_requested: 'gpt-5-mini',
      streamed: null,
      input_tokens: 216,
      cache_read_input_tokens: 1024,
      output_tokens: 210,
      reasoning_tokens: 128,
      // 216 × 0.25 + 1024 × 0.025 + 210 × 2 per million
      total_cost: '0.0004996',
    },
  },
  {
    title: 'a response as a stream',
    answer: 'openai/responses-stream',
    call: async (at) => {
      const stream = await connect(at).responses.create({
        model: 'gpt-5-mini',
        input: 'Greet the demo.',
        stream: true,
      });
      const events = await collect(stream);
      return { events, types: events.map((event) => event.type) };
    },
    result: {
      types: [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.completed',
      ],
    },
    record: {
      ...PRICED,
      endpoint: 'responses',
      model: 'gpt-5-mini-2025-08-07',
      streamed: true,
      input_tokens: 216,
      cache_read_input_tokens: 1024,
      output_tokens: 210,
      reasoning_tokens: 128,
      // 216 × 0.25 + 1024 × 0.025 + 210 × 2 per million
      total_cost: '0.0004996',
    },
  },
  {
    title: 'embeddings',
    answer: 'openai/embeddings',
    call: (at) =>
      connect(at).embeddings.create({
        model: 'text-embedding-3-small',
        input: ['Tollgate demo', '過路費'],
        dimensions: 3,
        encoding_format: 'float',
      }),
    result: { data: [{ embedding: [0.0123, -0.0456, 0.0789] }, { embedding: [-0.0101, 0.0202, 0.0303] }] },
    record: {
      ...PRICED,
      endpoint: 'embeddings',
      model: 'text-embedding-3-small',
      input_tokens: 11,
      output_tokens: null,
      // 11 × 0.02 per million
      total_cost: '0.00000022',
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'openai/error-404',
    call: (at) => connect(at).chat.completions.create({ model: 'gpt-nonesuch', messages: [...HELLO] }),
    error: {
      name: 'NotFoundError',
      message: '404 The model `gpt-nonesuch` does not exist or you do not have access to it.',
      status: 404,
    },
    record: {
      ...REFUSED_RECORD,
      provider: 'openai',
      endpoint: 'chat.completions',
      model_requested: 'gpt-nonesuch',
      status: 404,
      error_type: 'invalid_request_error',
      error_message: 'The model `gpt-nonesuch` does not exist or you do not have access to it.',
    },
  },
];

test.each(CASES)('openai, $title: as without the gateway, and recorded with its exact cost', (tested) =>
  checkCase(comparison, tested),
);

test('openai, a chat stream that does not ask for usage: the same chunks as without the gateway, and exact usage', async () => {
  const { through, records } = await comparison.compare({
    call: streamChat,
    answer: (request) =>
      answerFixture(
        request.body().includes('"include_usage":true')
          ? 'openai/chat-stream-usage-asked'
          : 'openai/chat-stream-usage-not-asked',
        { 'x-request-id': 'req_demo_0004' },
      ),
    isAsked: true,
  });
  expect(through.error).toBeNull();
  const text = through.exchanges[0]?.body.toString();
  expect(text).not.toContain('usage');
  expect(text).toContain('data: [DONE]');
  expect(records).toMatchObject([
    {
      ...PRICED,
      endpoint: 'chat.completions',
      model: 'gpt-4o-mini-2024-07-18',
      streamed: true,
      flags: ['usage_asked'],
      input_tokens: 21,
      cache_read_input_tokens: 0,
      output_tokens: 18,
      // 21 × 0.15 + 18 × 0.6 per million
      total_cost: '0.00001395',
    },
  ]);
});

test('openai, a rate limit: status, header and message reach the program', async () => {
  const { through, records } = await comparison.compare({
    call: (at) => connect(at).chat.completions.create({ model: 'gpt-4o-mini', messages: [...HELLO] }),
    answer: () => answerFixture('openai/error-429'),
  });
  expect(through.error).toBeInstanceOf(OpenAI.RateLimitError);
  expect(through.error).toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
    requestID: 'req_demo_0017',
    message:
      '429 Rate limit reached for gpt-4o-mini on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
  });
  expect(readErrorHeader(through.error, 'retry-after')).toBe('20');
  expect(through.requests).toHaveLength(1);
  expect(records).toMatchObject([{ ...REFUSED_RECORD, status: 429, error_type: 'requests', attempt: 0 }]);
});

test('openai, a rate limit with retries on: the SDK waits as told, and each try is recorded', () =>
  checkRetry(comparison, {
    call: chat,
    limited: answerFixture('openai/error-429', { 'retry-after-ms': '5' }),
    answer: 'openai/chat',
    attempts: [0, 1],
    // 14 × 0.15 + 41 × 0.6 per million
    totalCost: '0.0000267',
  }));

test('openai, a gateway key that is none: the SDK shows why, once', () =>
  checkRefusal(comparison, {
    call: chat,
    error: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
  }));
