/** The tests of the `ai` package with its packages for the providers; Bedrock's has a test of its own. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createDeepSeek } from '@ai-sdk/deepseek';
import { createFireworks } from '@ai-sdk/fireworks';
import { createGoogle } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createTogetherAI } from '@ai-sdk/togetherai';
import { generateText, jsonSchema, type LanguageModel, streamText, type ToolSet } from 'ai';
import type { ProviderName } from '../../src/vocabulary/call-record.ts';
import {
  type CostAt,
  collect,
  isDeepseekPeak,
  KEY_MESSAGE,
  REFUSED_RECORD,
  type SdkCase,
  testSdk,
} from './sdk-cases.ts';
import type { SdkCall, SdkComparison, SdkConnection } from './sdk-comparison.ts';

const PRICED = {
  outcome: 'ok',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

/** A provider package of `ai`: what differs between them. */
interface AiProvider {
  readonly title: string;
  readonly provider: ProviderName;
  readonly endpoint: string;
  /** Where streams have another. */
  readonly streamEndpoint?: string;
  readonly model: string;
  /** By the answer, where it is another name than the one asked for. */
  readonly served?: string;

  readonly connect: (at: SdkConnection, model: string) => LanguageModel;
  readonly text: Expected & { readonly text: string };
  readonly stream: Expected & { readonly text: string };
  /** Null where another entry has one with the same package. */
  readonly toolCall: Expected | null;
  readonly refused: {
    readonly answer: string;
    readonly status: number;
    readonly model: string;
    readonly message: string;
    readonly errorType: string;
  };
  readonly limited: {
    readonly answer: string;
    readonly message: string;
    readonly errorType: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

interface Expected {
  readonly answer: string;
  readonly record: object;
  readonly costAt: CostAt;
}

/** The same for both of its APIs. */
const OPENAI_FAILURES = {
  refused: {
    answer: 'openai/error-404',
    status: 404,
    model: 'gpt-nonesuch',
    message: 'The model `gpt-nonesuch` does not exist or you do not have access to it.',
    errorType: 'invalid_request_error',
  },
  limited: {
    answer: 'openai/error-429',
    message:
      'Rate limit reached for gpt-4o-mini on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
    errorType: 'requests',
    headers: { 'retry-after-ms': '20000' },
  },
} as const satisfies Pick<AiProvider, 'refused' | 'limited'>;

const AI_PROVIDERS: readonly AiProvider[] = [
  {
    title: '@ai-sdk/deepseek',
    provider: 'deepseek',
    endpoint: 'chat.completions',
    model: 'deepseek-v4-flash',
    connect: ({ origin, headers, fetch }, model) =>
      createDeepSeek({ apiKey: 'deepseek-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch })(
        model,
      ),
    text: {
      answer: 'deepseek/chat',
      text: 'Tollgate demo: the blank lines before this answer kept the line open.',
      record: { input_tokens: 176, cache_read_input_tokens: 1024, output_tokens: 340, reasoning_tokens: 200 },
      // 176 × 0.15 + 1024 × 0.003 + 340 × 0.6 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.000466944' : '0.000233472'),
    },
    stream: {
      answer: 'deepseek/chat-stream',
      text: 'Tollgate demo: 深度思考 – deep and seeking.',
      record: { input_tokens: 1200, cache_read_input_tokens: 0, output_tokens: 88, reasoning_tokens: 40 },
      // 1200 × 0.15 + 88 × 0.6 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.0004656' : '0.0002328'),
    },
    toolCall: {
      answer: 'deepseek/chat-tool-call',
      record: { input_tokens: 54, cache_read_input_tokens: 256, output_tokens: 70, reasoning_tokens: 45 },
      // 54 × 0.15 + 256 × 0.003 + 70 × 0.6 per million, twice that at peak
      costAt: (at) => (isDeepseekPeak(at) ? '0.000101736' : '0.000050868'),
    },
    refused: {
      answer: 'deepseek/error-400',
      status: 400,
      model: 'deepseek-nonesuch',
      message: 'Model Not Exist',
      errorType: 'invalid_request_error',
    },
    limited: {
      answer: 'deepseek/error-429',
      message: 'Too many concurrent requests. Please try again later.',
      errorType: 'rate_limit_error',
      headers: { 'retry-after': '20' },
    },
  },
  {
    title: '@ai-sdk/fireworks',
    provider: 'fireworks',
    endpoint: 'chat.completions',
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
      costAt: () => '0.00001998',
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
      errorType: 'invalid_request_error',
    },
    limited: {
      answer: 'fireworks/error-429',
      message: 'Rate limit exceeded, please try again later',
      errorType: 'rate_limit_error',
      headers: { 'retry-after': '20' },
    },
  },
  {
    title: '@ai-sdk/openai, chat',
    provider: 'openai',
    endpoint: 'chat.completions',
    model: 'gpt-4o-mini',
    served: 'gpt-4o-mini-2024-07-18',
    connect: ({ origin, headers, fetch }, model) =>
      createOpenAI({ apiKey: 'openai-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch }).chat(
        model,
      ),
    text: {
      answer: 'openai/chat',
      text: 'Tollgate demo: a toll gate counts what passes and what it costs. This one counts tokens — in, out, cached — and adds up the money to the last decimal. 👋',
      record: { input_tokens: 14, cache_read_input_tokens: 0, output_tokens: 41 },
      // 14 × 0.15 + 41 × 0.6 per million
      costAt: () => '0.0000267',
    },
    stream: {
      answer: 'openai/chat-stream-usage',
      text: 'Tollgate demo: every call is',
      record: { input_tokens: 21, cache_read_input_tokens: 0, output_tokens: 7 },
      // 21 × 0.15 + 7 × 0.6 per million
      costAt: () => '0.00000735',
    },
    toolCall: {
      answer: 'openai/chat-tool-call',
      record: { model: 'gpt-5-mini-2025-08-07', input_tokens: 133, output_tokens: 85, reasoning_tokens: 64 },
      // 133 × 0.25 + 85 × 2 per million
      costAt: () => '0.00020325',
    },
    ...OPENAI_FAILURES,
  },
  {
    title: '@ai-sdk/openai, responses',
    provider: 'openai',
    endpoint: 'responses',
    model: 'gpt-5-mini',
    served: 'gpt-5-mini-2025-08-07',
    connect: ({ origin, headers, fetch }, model) =>
      createOpenAI({ apiKey: 'openai-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch })(model),
    text: {
      answer: 'openai/responses',
      text: 'Tollgate demo: Antworten, réponses, 回答 – all of them metered.',
      record: { input_tokens: 216, cache_read_input_tokens: 1024, output_tokens: 210, reasoning_tokens: 128 },
      // 216 × 0.25 + 1024 × 0.025 + 210 × 2 per million
      costAt: () => '0.0004996',
    },
    stream: {
      answer: 'openai/responses-stream',
      text: 'Tollgate demo: Antworten, réponses, 回答 – all of them metered.',
      record: { input_tokens: 216, cache_read_input_tokens: 1024, output_tokens: 210, reasoning_tokens: 128 },
      // 216 × 0.25 + 1024 × 0.025 + 210 × 2 per million
      costAt: () => '0.0004996',
    },
    toolCall: null,
    ...OPENAI_FAILURES,
  },
  {
    title: '@ai-sdk/anthropic',
    provider: 'anthropic',
    endpoint: 'messages',
    model: 'claude-haiku-4-5',
    served: 'claude-haiku-4-5-20251001',
    connect: ({ origin, headers, fetch }, model) =>
      createAnthropic({ apiKey: 'anthropic-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch })(
        model,
      ),
    text: {
      answer: 'anthropic/messages',
      text: 'Tollgate demo: hello! This short answer has its own row, its own price and its own place in the tree.',
      record: { input_tokens: 13, output_tokens: 28 },
      // 13 × 1 + 28 × 5 per million
      costAt: () => '0.000153',
    },
    stream: {
      answer: 'anthropic/messages-stream',
      text: 'Tollgate demo: bytes pass as they come — 一字不改 ✨.',
      record: { input_tokens: 13, output_tokens: 24 },
      // 13 × 1 + 24 × 5 per million
      costAt: () => '0.000133',
    },
    toolCall: {
      answer: 'anthropic/messages-tool-use',
      record: { input_tokens: 412, output_tokens: 67 },
      // 412 × 1 + 67 × 5 per million, 2 × 10 per thousand searches, fetches are free
      costAt: () => '0.020747',
    },
    refused: {
      answer: 'anthropic/error-404',
      status: 404,
      model: 'claude-nonesuch',
      message: 'model: claude-nonesuch',
      errorType: 'not_found_error',
    },
    limited: {
      answer: 'anthropic/error-429',
      message: "This request would exceed your account's rate limit. Please try again later.",
      errorType: 'rate_limit_error',
      headers: { 'retry-after': '20' },
    },
  },
  {
    title: '@ai-sdk/google',
    provider: 'gemini',
    endpoint: 'generateContent',
    streamEndpoint: 'streamGenerateContent',
    model: 'gemini-2.5-flash',
    connect: ({ origin, headers, fetch }, model) =>
      createGoogle({ apiKey: 'gemini-placeholder', baseURL: `${origin}/v1beta`, headers: { ...headers }, fetch })(
        model,
      ),
    text: {
      answer: 'gemini/generate',
      text: 'Tollgate demo: one header in front, nothing else changed. ✨',
      record: { input_tokens: 9, output_tokens: 14 },
      // 9 × 0.3 + 14 × 2.5 per million
      costAt: () => '0.0000377',
    },
    stream: {
      answer: 'gemini/stream-sse',
      text: 'Tollgate demo: die Maut für Token – 日本語もどうぞ 🎌.',
      record: { input_tokens: 9, output_tokens: 52, reasoning_tokens: 31 },
      // 9 × 0.3 + (21 + 31) × 2.5 per million
      costAt: () => '0.0001327',
    },
    toolCall: {
      answer: 'gemini/generate-tool-call',
      record: { input_tokens: 61, output_tokens: 74, reasoning_tokens: 58 },
      // 61 × 0.3 + (16 + 58) × 2.5 per million
      costAt: () => '0.0002033',
    },
    refused: {
      answer: 'gemini/error-404',
      status: 404,
      model: 'gemini-nonesuch',
      message:
        'models/gemini-nonesuch is not found for API version v1, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.',
      errorType: 'NOT_FOUND',
    },
    limited: {
      answer: 'gemini/error-429',
      message: 'You exceeded your current quota. Please retry in 34s.',
      errorType: 'RESOURCE_EXHAUSTED',
      headers: {},
    },
  },
  {
    title: '@ai-sdk/togetherai',
    provider: 'together',
    endpoint: 'chat.completions',
    model: 'meta-llama/Llama-3.3-70B-Instruct-Turbo',
    connect: ({ origin, headers, fetch }, model) =>
      createTogetherAI({ apiKey: 'together-placeholder', baseURL: `${origin}/v1`, headers: { ...headers }, fetch })(
        model,
      ),
    text: {
      answer: 'together/chat',
      text: 'Tollgate demo: many models, one ledger.',
      record: { input_tokens: 40, cache_read_input_tokens: 0, output_tokens: 13 },
      // 40 × 0.88 + 13 × 0.88 per million
      costAt: () => '0.00004664',
    },
    stream: {
      answer: 'together/chat-stream',
      text: 'Tollgate demo: together 一緒に.',
      record: { input_tokens: 40, output_tokens: 11 },
      // 40 × 0.88 + 11 × 0.88 per million
      costAt: () => '0.00004488',
    },
    toolCall: {
      answer: 'together/chat-tool-call',
      record: { input_tokens: 181, output_tokens: 19 },
      // 181 × 0.88 + 19 × 0.88 per million
      costAt: () => '0.000176',
    },
    refused: {
      answer: 'together/error-404',
      status: 404,
      model: 'nonesuch',
      message:
        'Unable to access model nonesuch. Please visit https://api.together.ai/models to view the list of supported models.',
      errorType: 'invalid_request_error',
    },
    limited: {
      answer: 'together/error-429',
      message: 'You have reached the rate limit of this model. Please try again in 20 seconds.',
      errorType: 'rate_limit_error',
      headers: { 'retry-after': '20' },
    },
  },
];

const TOOLS: ToolSet = {
  read_toll: { inputSchema: jsonSchema({ type: 'object', properties: { road: { type: 'string' } } }) },
};

export function testAi(started: () => SdkComparison): void {
  for (const tested of AI_PROVIDERS) testAiProvider(started, tested);
}

function testAiProvider(started: () => SdkComparison, tested: AiProvider): void {
  const { provider, endpoint, model, served = model, connect, refused, limited } = tested;
  const { streamEndpoint = endpoint, toolCall } = tested;
  const record = { ...PRICED, provider, endpoint, model: served, model_requested: model, attempt: null };

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
      record: { ...record, endpoint: streamEndpoint, ...tested.stream.record, streamed: true },
    },
    ...(toolCall === null
      ? []
      : [
          {
            ...toolCall,
            title: 'a tool call',
            call: ask(model),
            result: { finishReason: 'tool-calls', toolCalls: [{ toolName: 'read_toll', input: { road: 'A1' } }] },
            record: { ...record, ...toolCall.record },
          },
        ]),
    {
      title: 'a model that does not exist',
      answer: refused.answer,
      call: ask(refused.model),
      error: { name: 'APICallError', message: refused.message, status: refused.status },
      record: {
        ...REFUSED_RECORD,
        provider,
        endpoint,
        model_requested: refused.model,
        status: refused.status,
        error_type: refused.errorType,
        error_message: refused.message,
      },
    },
  ];

  testSdk(started, {
    name: `ai with ${tested.title}`,
    gatewayHeaders: { 'X-Gateway-Provider': provider },
    cases,
    limit: {
      call: ask(model),
      limited: limited.answer,
      error: { name: 'APICallError', message: limited.message },
      errorDetails: { responseHeaders: limited.headers },
      record: { error_type: limited.errorType, attempt: null },
      retryHeaders: { 'retry-after-ms': '5' },
      answer: tested.text.answer,
      attempts: [null, null],
      totalCost: tested.text.costAt,
    },
    refusal: { name: 'APICallError', message: KEY_MESSAGE, status: 401 },
  });
}
