/** The tests of the `ai` package with `@ai-sdk/amazon-bedrock` and a Bedrock API key. */
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { generateText, jsonSchema, streamText, type ToolSet } from 'ai';
import { collect, KEY_MESSAGE, REFUSED_RECORD, type SdkCase, testSdk } from './sdk-cases.ts';
import type { SdkCall, SdkComparison, SdkConnection } from './sdk-comparison.ts';

const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const TOOLS: ToolSet = {
  read_toll: { inputSchema: jsonSchema({ type: 'object', properties: { road: { type: 'string' } } }) },
};

function connect({ origin, headers, fetch }: SdkConnection, model: string) {
  const bedrock = createAmazonBedrock({
    region: 'us-east-1',
    apiKey: 'bedrock-placeholder',
    baseURL: origin,
    headers: { ...headers },
    fetch,
  });
  return bedrock(model);
}

const ask =
  (model: string): SdkCall =>
  async (at) => {
    const { text, usage, toolCalls, finishReason } = await generateText({
      model: connect(at, model),
      prompt: 'Introduce the demo.',
      tools: TOOLS,
      maxRetries: at.retries,
    });
    return { text, usage, finishReason, toolCalls: toolCalls.map(({ toolName, input }) => ({ toolName, input })) };
  };

const PRICED = {
  provider: 'bedrock',
  outcome: 'ok',
  region: 'us-east-1',
  model: null,
  model_requested: MODEL,
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

const CASES: readonly SdkCase[] = [
  {
    title: 'generateText',
    answer: 'bedrock/converse',
    call: ask(MODEL),
    result: { finishReason: 'stop' },
    record: {
      ...PRICED,
      endpoint: 'converse',
      streamed: false,
      input_tokens: 15,
      cache_read_input_tokens: 2000,
      cache_creation_5m_tokens: 600,
      cache_creation_1h_tokens: 400,
      output_tokens: 26,
      // 15 × 1.1 + 2000 × 0.11 + 600 × 1.375 + 400 × 2.2 + 26 × 5.5 per million
      total_cost: '0.0020845',
    },
  },
  {
    title: 'streamText',
    answer: 'bedrock/converse-stream',
    call: async (at) => {
      const answer = streamText({ model: connect(at, MODEL), prompt: 'Introduce the demo.', maxRetries: at.retries });
      const pieces = await collect(answer.textStream);
      return { pieces, text: pieces.join(''), usage: await answer.usage };
    },
    result: { text: 'Tollgate demo: frames instead of lines, 数え間違いなし 🌊.' },
    record: {
      ...PRICED,
      endpoint: 'converse-stream',
      streamed: true,
      input_tokens: 15,
      cache_read_input_tokens: 1024,
      cache_creation_input_tokens: 256,
      output_tokens: 33,
      // 15 × 1.1 + 1024 × 0.11 + 256 × 1.375 + 33 × 5.5 per million
      total_cost: '0.00066264',
    },
  },
  {
    title: 'a tool call',
    answer: 'bedrock/converse-tool-use',
    call: ask(MODEL),
    result: { finishReason: 'tool-calls', toolCalls: [{ toolName: 'read_toll', input: { road: 'A1' } }] },
    record: {
      ...PRICED,
      endpoint: 'converse',
      input_tokens: 402,
      output_tokens: 61,
      // 402 × 1.1 + 61 × 5.5 per million
      total_cost: '0.0007777',
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'bedrock/error-400',
    call: ask('nonesuch'),
    error: { name: 'APICallError', message: 'The provided model identifier is invalid.', status: 400 },
    record: { ...REFUSED_RECORD, provider: 'bedrock', endpoint: 'converse', model_requested: 'nonesuch', status: 400 },
  },
];

export function testBedrockAi(started: () => SdkComparison): void {
  testSdk(started, {
    name: 'ai with @ai-sdk/amazon-bedrock',
    cases: CASES,
    limit: {
      call: ask(MODEL),
      limited: 'bedrock/error-429',
      error: { name: 'APICallError', message: 'Too many requests, please wait before trying again.' },
      record: {},
      retryHeaders: { 'retry-after-ms': '5' },
      answer: 'bedrock/converse',
      attempts: [null, null],
      // 15 × 1.1 + 2000 × 0.11 + 600 × 1.375 + 400 × 2.2 + 26 × 5.5 per million
      totalCost: '0.0020845',
    },
    refusal: { name: 'APICallError', message: KEY_MESSAGE, status: 401 },
  });
}
