/** The tests of `@anthropic-ai/sdk` in both majors, and of the providers that serve the same API. */
import Anthropic from '@anthropic-ai/sdk';
import AnthropicBefore from 'anthropic-sdk-0x';
import { expect, test } from 'vitest';
import {
  type CostAt,
  checkCase,
  collect,
  isDeepseekPeak,
  KEY_MESSAGE,
  REFUSED_RECORD,
  retryAfterOfError,
  type SdkCase,
  testSdk,
} from './sdk-cases.ts';
import { answerFixture, type SdkComparison, type SdkConnection } from './sdk-comparison.ts';

interface Body {
  readonly model: string;
  readonly max_tokens: number;
  readonly messages: { readonly role: 'user'; readonly content: string }[];
  readonly tools?: { readonly name: string; readonly input_schema: { readonly type: 'object' } }[];
}

/** Both majors are in use: 1.x sends the key as a bearer token, 0.x as `x-api-key`, with another API version. */
interface Sdk {
  readonly name: string;
  readonly credential: readonly [name: string, value: string];
  readonly create: (at: SdkConnection, body: Body) => Promise<object>;
  readonly stream: (at: SdkConnection, body: Body) => Promise<object[]>;
}

function optionsOf({ origin, headers, retries, fetch }: SdkConnection) {
  return { apiKey: 'sk-ant-placeholder', baseURL: origin, defaultHeaders: headers, maxRetries: retries, fetch };
}

const SDKS: readonly Sdk[] = [
  {
    name: '@anthropic-ai/sdk 1.x',
    credential: ['authorization', 'Bearer sk-ant-placeholder'],
    create: (at, body) => new Anthropic(optionsOf(at)).messages.create(body),
    stream: async (at, body) => collect(await new Anthropic(optionsOf(at)).messages.create({ ...body, stream: true })),
  },
  {
    name: '@anthropic-ai/sdk 0.x',
    credential: ['x-api-key', 'sk-ant-placeholder'],
    create: (at, body) => new AnthropicBefore(optionsOf(at)).messages.create(body),
    stream: async (at, body) =>
      collect(await new AnthropicBefore(optionsOf(at)).messages.create({ ...body, stream: true })),
  },
];

const HELLO: Body = {
  model: 'claude-haiku-4-5',
  max_tokens: 256,
  messages: [{ role: 'user', content: 'Say hello to the demo.' }],
};
const WITH_TOOL: Body = { ...HELLO, tools: [{ name: 'read_toll', input_schema: { type: 'object' } }] };

const PRICED = {
  provider: 'anthropic',
  endpoint: 'messages',
  outcome: 'ok',
  model: 'claude-haiku-4-5-20251001',
  model_requested: 'claude-haiku-4-5',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

function casesOf({ create, stream }: Sdk): readonly SdkCase[] {
  return [
    {
      title: 'a message',
      answer: 'anthropic/messages',
      call: (at) => create(at, HELLO),
      result: { id: 'msg_demo0001', usage: { input_tokens: 13, output_tokens: 28 } },
      record: {
        ...PRICED,
        attempt: 0,
        provider_request_id: 'req_demo_0019',
        input_tokens: 13,
        cache_read_input_tokens: 0,
        cache_creation_input_tokens: 0,
        output_tokens: 28,
        // 13 × 1 + 28 × 5 per million
        total_cost: '0.000153',
      },
    },
    {
      title: 'a message as a stream',
      answer: 'anthropic/messages-stream',
      call: async (at) => ({ events: await stream(at, HELLO) }),
      record: {
        ...PRICED,
        streamed: true,
        input_tokens: 13,
        output_tokens: 24,
        // 13 × 1 + 24 × 5 per million
        total_cost: '0.000133',
      },
    },
    {
      title: 'a tool call',
      answer: 'anthropic/messages-tool-use',
      call: (at) => create(at, WITH_TOOL),
      result: { stop_reason: 'tool_use', content: [{ type: 'text' }, { name: 'read_toll', input: { road: 'A1' } }] },
      record: {
        ...PRICED,
        input_tokens: 412,
        output_tokens: 67,
        usage: { input: 412, output: 67, web_search_requests: 2, web_fetch_requests: 1 },
        // 412 × 1 + 67 × 5 per million, 2 × 10 per thousand searches, fetches are free
        total_cost: '0.020747',
      },
    },
    {
      title: 'a tool call as a stream',
      answer: 'anthropic/messages-tool-use-stream',
      call: async (at) => ({ events: await stream(at, WITH_TOOL) }),
      record: {
        ...PRICED,
        streamed: true,
        input_tokens: 412,
        output_tokens: 59,
        // 412 × 1 + 59 × 5 per million
        total_cost: '0.000707',
      },
    },
    {
      title: 'a model that does not exist',
      answer: 'anthropic/error-404',
      call: (at) => create(at, { ...HELLO, model: 'claude-nonesuch' }),
      error: {
        name: 'NotFoundError',
        message:
          '404 {"type":"error","error":{"type":"not_found_error","message":"model: claude-nonesuch"},"request_id":"req_demo_0051"}',
        status: 404,
      },
      record: {
        ...REFUSED_RECORD,
        provider: 'anthropic',
        endpoint: 'messages',
        model_requested: 'claude-nonesuch',
        status: 404,
        error_type: 'not_found_error',
        error_message: 'model: claude-nonesuch',
      },
    },
  ];
}

/** Three providers serve this API too, below a path of their own: the gateway adds it, a direct call has it in its base. */
const ELSEWHERE: readonly { provider: string; base: string; model: string; record: object; costAt: CostAt }[] = [
  {
    provider: 'deepseek',
    base: '/anthropic',
    model: 'deepseek-v4-flash',
    record: { input_tokens: 60, cache_read_input_tokens: 128, output_tokens: 21 },
    // 60 × 0.15 + 128 × 0.003 + 21 × 0.6 per million, twice that at peak
    costAt: (at) => (isDeepseekPeak(at) ? '0.000043968' : '0.000021984'),
  },
  {
    provider: 'fireworks',
    base: '/inference',
    model: 'accounts/fireworks/models/gpt-oss-120b',
    record: { input_tokens: 70, cache_read_input_tokens: 16, output_tokens: 15 },
    // 70 × 0.15 + 16 × 0.014 + 15 × 0.6 per million
    costAt: () => '0.00001974',
  },
  {
    provider: 'bedrock',
    base: '/anthropic',
    model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    record: {
      model: 'claude-haiku-4-5-20251001',
      billing_model: 'us.anthropic.claude-haiku-4-5-20251001-v1:0',
      input_tokens: 9,
      output_tokens: 12,
    },
    // 9 × 1.1 + 12 × 5.5 per million
    costAt: () => '0.0000759',
  },
];

export function testAnthropic(started: () => SdkComparison): void {
  for (const sdk of SDKS)
    testSdk(started, {
      name: sdk.name,
      cases: casesOf(sdk),
      limit: {
        call: (at) => sdk.create(at, HELLO),
        limited: 'anthropic/error-429',
        error: {
          name: 'RateLimitError',
          message: expect.stringContaining(
            "This request would exceed your account's rate limit. Please try again later.",
          ),
        },
        retryAfter: { value: '20', read: retryAfterOfError },
        record: { error_type: 'rate_limit_error', attempt: 0 },
        retryHeaders: { 'retry-after-ms': '5' },
        answer: 'anthropic/messages',
        attempts: [0, 1],
        // 13 × 1 + 28 × 5 per million
        totalCost: '0.000153',
      },
      refusal: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
    });

  test.each(SDKS)('$name: the credential reaches the provider as the SDK sends it', async ({ create, credential }) => {
    const { through } = await started().compare({
      call: (at) => create(at, HELLO),
      answer: () => answerFixture('anthropic/messages'),
    });
    expect(through.requests[0]?.header(credential[0])).toBe(credential[1]);
  });

  test.each(ELSEWHERE)(
    '@anthropic-ai/sdk 1.x for $provider: the path is mapped, the rest as without the gateway',
    (tested) => {
      const { provider, base, model, record, costAt } = tested;
      return checkCase(started(), {
        title: provider,
        answer: `${provider}/messages`,
        gatewayHeaders: { 'X-Gateway-Provider': provider },
        call: (at) => {
          const origin = at.isDirect ? `${at.origin}${base}` : at.origin;
          // A key of Anthropic's own would be refused there.
          const options = { ...optionsOf({ ...at, origin }), apiKey: 'placeholder' };
          return new Anthropic(options).messages.create({ ...HELLO, model });
        },
        record: { ...PRICED, provider, model, model_requested: model, ...record },
        costAt,
      });
    },
  );
}
