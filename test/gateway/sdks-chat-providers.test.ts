import { createDeepSeek } from '@ai-sdk/deepseek';
import { createFireworks } from '@ai-sdk/fireworks';
import { APICallError, generateText, jsonSchema, type LanguageModel, streamText, type ToolSet } from 'ai';
import Together from 'together-ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type CostAt,
  checkCase,
  checkRefusal,
  checkRetry,
  collect,
  isDeepseekPeak,
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

const PRICED = {
  endpoint: 'chat.completions',
  outcome: 'ok',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

describe('together-ai', () => {
  const MODEL = 'meta-llama/Llama-3.3-70B-Instruct-Turbo';
  const gatewayHeaders = { 'X-Gateway-Provider': 'together' };
  const messages = [{ role: 'user' as const, content: 'Greet the demo.' }];

  function connect({ origin, headers, retries, fetch }: SdkConnection): Together {
    return new Together({
      apiKey: 'together-placeholder',
      baseURL: `${origin}/v1`,
      defaultHeaders: headers,
      maxRetries: retries,
      fetch,
    });
  }

  const chat: SdkCall = (at) => connect(at).chat.completions.create({ model: MODEL, messages });
  const cases: readonly SdkCase[] = [
    {
      title: 'chat',
      answer: 'together/chat',
      call: chat,
      result: { choices: [{ message: { content: 'Tollgate demo: many models, one ledger.' } }] },
      record: {
        ...PRICED,
        provider: 'together',
        model: MODEL,
        attempt: 0,
        provider_request_id: 'req_demo_0045',
        input_tokens: 40,
        cache_read_input_tokens: 0,
        output_tokens: 13,
        // 40 × 0.88 + 13 × 0.88 per million
        total_cost: '0.00004664',
      },
    },
    {
      title: 'a chat stream',
      answer: 'together/chat-stream',
      call: async (at) => {
        const chunks = await collect(
          await connect(at).chat.completions.create({ model: MODEL, messages, stream: true }),
        );
        return { chunks, text: chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('') };
      },
      result: { text: 'Tollgate demo: together 一緒に.' },
      record: {
        ...PRICED,
        provider: 'together',
        model: MODEL,
        streamed: true,
        flags: [],
        input_tokens: 40,
        output_tokens: 11,
        // 40 × 0.88 + 11 × 0.88 per million
        total_cost: '0.00004488',
      },
    },
    {
      title: 'a tool call',
      answer: 'together/chat-tool-call',
      call: (at) =>
        connect(at).chat.completions.create({
          model: MODEL,
          messages,
          tools: [{ type: 'function', function: { name: 'read_toll', parameters: { type: 'object' } } }],
        }),
      result: {
        choices: [{ message: { tool_calls: [{ function: { name: 'read_toll', arguments: '{"road":"A1"}' } }] } }],
      },
      record: {
        ...PRICED,
        provider: 'together',
        model: MODEL,
        input_tokens: 181,
        output_tokens: 19,
        // 181 × 0.88 + 19 × 0.88 per million
        total_cost: '0.000176',
      },
    },
    {
      title: 'a model that does not exist',
      answer: 'together/error-404',
      call: (at) => connect(at).chat.completions.create({ model: 'nonesuch', messages }),
      error: {
        name: 'NotFoundError',
        message:
          '404 {"id":"demo-tg-0004","error":{"message":"Unable to access model nonesuch. Please visit https://api.together.ai/models to view the list of supported models.","type":"invalid_request_error","param":null,"code":"model_not_available"}}',
        status: 404,
      },
      record: {
        ...REFUSED_RECORD,
        provider: 'together',
        endpoint: 'chat.completions',
        model_requested: 'nonesuch',
        status: 404,
        error_type: 'invalid_request_error',
      },
    },
  ];

  test.each(cases)('$title: as without the gateway, and recorded with its exact cost', (tested) =>
    checkCase(comparison, { ...tested, gatewayHeaders }),
  );

  test('a rate limit: status, header and message reach the program', async () => {
    const { through, records } = await comparison.compare({
      call: chat,
      gatewayHeaders,
      answer: () => answerFixture('together/error-429'),
    });
    expect(through.error).toBeInstanceOf(Together.RateLimitError);
    expect(through.error).toMatchObject({ status: 429 });
    expect(through.error).toHaveProperty('message', expect.stringContaining('You have reached the rate limit'));
    expect(readErrorHeader(through.error, 'retry-after')).toBe('20');
    expect(through.requests).toHaveLength(1);
    expect(records).toMatchObject([{ ...REFUSED_RECORD, status: 429, error_type: 'rate_limit_error', attempt: 0 }]);
  });

  test('a rate limit with retries on: the SDK waits as told, and each try is recorded', () =>
    checkRetry(comparison, {
      call: chat,
      gatewayHeaders,
      limited: answerFixture('together/error-429', { 'retry-after-ms': '5' }),
      answer: 'together/chat',
      attempts: [0, 1],
      // 40 × 0.88 + 13 × 0.88 per million
      totalCost: '0.00004664',
    }));

  test('a gateway key that is none: the SDK shows why, once', () =>
    checkRefusal(comparison, {
      call: chat,
      gatewayHeaders,
      error: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
    }));
});

/** A provider package of `ai`: what differs between the two. */
interface AiProvider {
  readonly provider: 'deepseek' | 'fireworks';
  readonly model: string;
  readonly connect: (at: SdkConnection, model: string) => LanguageModel;
  readonly text: Expected & { readonly text: string };
  readonly stream: Expected & { readonly text: string };
  readonly toolCall: Expected;
  readonly refused: {
    readonly answer: string;
    readonly status: number;
    readonly model: string;
    readonly message: string;
  };
  readonly limited: { readonly answer: string; readonly message: string };
}

interface Expected {
  readonly answer: string;
  readonly record: object;
  readonly costAt: CostAt;
}

const AI_PROVIDERS: readonly AiProvider[] = [
  {
    provider: 'deepseek',
    model: 'deepseek-v4-flash',
    connect: ({ origin, headers, fetch }, model) =>
      createDeepSeek({ apiKey: 'deepseek-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch })(
        model,
      ),
    text: {
      answer: 'deepseek/chat',
      text: 'Tollgate demo: the blank lines before this answer kept the line open.',
      record: { input_tokens: 176, cache_read_input_tokens: 1024, output_tokens: 340, reasoning_tokens: 200 },
      // 176 × 0.22 + 1024 × 0.007 + 340 × 0.66 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.000540576' : '0.000270288'),
    },
    stream: {
      answer: 'deepseek/chat-stream',
      text: 'Tollgate demo: 深度思考 – deep and seeking.',
      record: { input_tokens: 1200, cache_read_input_tokens: 0, output_tokens: 88, reasoning_tokens: 40 },
      // 1200 × 0.22 + 88 × 0.66 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.00064416' : '0.00032208'),
    },
    toolCall: {
      answer: 'deepseek/chat-tool-call',
      record: { input_tokens: 54, cache_read_input_tokens: 256, output_tokens: 70, reasoning_tokens: 45 },
      // 54 × 0.22 + 256 × 0.007 + 70 × 0.66 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.000119744' : '0.000059872'),
    },
    refused: { answer: 'deepseek/error-400', status: 400, model: 'deepseek-nonesuch', message: 'Model Not Exist' },
    limited: {
      answer: 'deepseek/error-429',
      message: 'Too many concurrent requests. Please try again later.',
    },
  },
  {
    provider: 'fireworks',
    model: 'accounts/fireworks/models/gpt-oss-120b',
    connect: ({ origin, isDirect, headers, fetch }, model) =>
      createFireworks({
        apiKey: 'fireworks-placeholder',
        baseURL: `${origin}${isDirect ? '/inference/v1' : '/v1'}`,
        headers: { ...headers },
        fetch,
      })(model),
    text: {
      answer: 'fireworks/chat',
      text: 'Tollgate demo: fast sparks, careful books.',
      record: { input_tokens: 42, cache_read_input_tokens: 32, output_tokens: 22 },
      // 42 × 0.15 + 32 × 0.014 + 22 × 0.6 per million
      costAt: () => '0.000019948',
    },
    stream: {
      answer: 'fireworks/chat-stream',
      text: 'Tollgate demo: sparks 🎆 und Buchhaltung.',
      record: { input_tokens: 74, cache_read_input_tokens: 0, output_tokens: 19 },
      // 74 × 0.15 + 19 × 0.6 per million
      costAt: () => '0.0000225',
    },
    toolCall: {
      answer: 'fireworks/chat-tool-call',
      record: { input_tokens: 152, cache_read_input_tokens: 0, output_tokens: 31 },
      // 152 × 0.15 + 31 × 0.6 per million
      costAt: () => '0.0000414',
    },
    refused: {
      answer: 'fireworks/error-404',
      status: 404,
      model: 'accounts/fireworks/models/nonesuch',
      message: 'Model not found, inaccessible, and/or not deployed',
    },
    limited: { answer: 'fireworks/error-429', message: 'Rate limit exceeded, please try again later' },
  },
];

const TOOLS: ToolSet = {
  read_toll: { inputSchema: jsonSchema({ type: 'object', properties: { road: { type: 'string' } } }) },
};

describe.each(AI_PROVIDERS)('ai with @ai-sdk/$provider', (tested) => {
  const { provider, model, connect, refused, limited } = tested;
  const gatewayHeaders = { 'X-Gateway-Provider': provider };
  const record = { ...PRICED, provider, model, model_requested: model, attempt: null };

  const ask =
    (asked: string): SdkCall =>
    async (at) => {
      const { text, usage, toolCalls, finishReason } = await generateText({
        model: connect(at, asked),
        prompt: 'Greet the demo.',
        tools: TOOLS,
        maxRetries: at.retries,
      });
      return { text, usage, finishReason, toolCalls: toolCalls.map(({ toolName, input }) => ({ toolName, input })) };
    };
  const stream: SdkCall = async (at) => {
    const answer = streamText({ model: connect(at, model), prompt: 'Greet the demo.', maxRetries: at.retries });
    const pieces = await collect(answer.textStream);
    return { pieces, text: pieces.join(''), usage: await answer.usage };
  };

  const cases: readonly SdkCase[] = [
    {
      ...tested.text,
      title: 'generateText',
      call: ask(model),
      result: { text: tested.text.text },
      record: { ...record, ...tested.text.record },
    },
    {
      ...tested.stream,
      title: 'streamText',
      call: stream,
      result: { text: tested.stream.text },
      record: { ...record, ...tested.stream.record, streamed: true },
    },
    {
      ...tested.toolCall,
      title: 'a tool call',
      call: ask(model),
      result: { finishReason: 'tool-calls', toolCalls: [{ toolName: 'read_toll', input: { road: 'A1' } }] },
      record: { ...record, ...tested.toolCall.record },
    },
    {
      title: 'a model that does not exist',
      answer: refused.answer,
      call: ask(refused.model),
      error: { name: 'APICallError', message: refused.message, status: refused.status },
      record: {
        ...REFUSED_RECORD,
        provider,
        endpoint: 'chat.completions',
        model_requested: refused.model,
        status: refused.status,
        error_type: 'invalid_request_error',
        error_message: refused.message,
      },
    },
  ];

  test.each(cases)('$title: as without the gateway, and recorded with its exact cost', (one) =>
    checkCase(comparison, { ...one, gatewayHeaders }),
  );

  test('a rate limit: status, header and message reach the program', async () => {
    const { through, records } = await comparison.compare({
      call: ask(model),
      gatewayHeaders,
      answer: () => answerFixture(limited.answer),
    });
    expect(APICallError.isInstance(through.error)).toBe(true);
    expect(through.error).toMatchObject({
      statusCode: 429,
      message: limited.message,
      responseHeaders: { 'retry-after': '20' },
    });
    expect(through.requests).toHaveLength(1);
    expect(records).toMatchObject([{ ...REFUSED_RECORD, status: 429, error_type: 'rate_limit_error', attempt: null }]);
  });

  test('a rate limit with retries on: the SDK waits as told, and each try is recorded', () =>
    checkRetry(comparison, {
      call: ask(model),
      gatewayHeaders,
      limited: answerFixture(limited.answer, { 'retry-after-ms': '5' }),
      answer: tested.text.answer,
      attempts: [null, null],
      totalCost: tested.text.costAt,
    }));

  test('a gateway key that is none: the SDK shows why, once', () =>
    checkRefusal(comparison, {
      call: ask(model),
      gatewayHeaders,
      error: { name: 'APICallError', message: KEY_MESSAGE, status: 401 },
    }));
});
