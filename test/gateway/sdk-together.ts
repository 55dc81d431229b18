import Together from 'together-ai';
import { expect } from 'vitest';
import { collect, KEY_MESSAGE, REFUSED_RECORD, retryAfterOfError, type SdkCase, testSdk } from './sdk-cases.ts';
import type { SdkCall, SdkComparison, SdkConnection } from './sdk-comparison.ts';

const PRICED = {
  endpoint: 'chat.completions',
  outcome: 'ok',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

const MODEL = 'meta-llama/Llama-3.3-70B-Instruct-Turbo';
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
const CASES: readonly SdkCase[] = [
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
      const chunks = await collect(await connect(at).chat.completions.create({ model: MODEL, messages, stream: true }));
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

export function testTogether(started: () => SdkComparison): void {
  testSdk(started, {
    name: 'together-ai',
    gatewayHeaders: { 'X-Gateway-Provider': 'together' },
    cases: CASES,
    limit: {
      call: chat,
      limited: 'together/error-429',
      error: { name: 'RateLimitError', message: expect.stringContaining('You have reached the rate limit') },
      retryAfter: { value: '20', read: retryAfterOfError },
      record: { error_type: 'rate_limit_error', attempt: 0 },
      retryHeaders: { 'retry-after-ms': '5' },
      answer: 'together/chat',
      attempts: [0, 1],
      // 40 × 0.88 + 13 × 0.88 per million
      totalCost: '0.00004664',
    },
    refusal: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
  });
}
