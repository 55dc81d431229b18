/**
 * The tests of Anthropic's own SDKs for AWS, with API keys: `@anthropic-ai/bedrock-sdk` (the invoke operations, and the
 * Messages API of Bedrock) and `@anthropic-ai/aws-sdk` (Anthropic's platform on AWS, whose address an operator sets).
 */
import { AnthropicAws } from '@anthropic-ai/aws-sdk';
import { AnthropicBedrock, AnthropicBedrockMantle } from '@anthropic-ai/bedrock-sdk';
import { describe, expect, test } from 'vitest';
import { answerInvokeStream } from './invoke-stream.ts';
import {
  checkCase,
  checkRefusal,
  checkRetry,
  collect,
  KEY_MESSAGE,
  REFUSED_RECORD,
  type SdkCase,
} from './sdk-cases.ts';
import { answerFixture, type SdkCall, type SdkComparison, type SdkConnection } from './sdk-comparison.ts';

const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const HELLO = {
  model: MODEL,
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'Hello.' }],
};
const WITH_TOOL = { ...HELLO, tools: [{ name: 'read_toll', input_schema: { type: 'object' as const } }] };
const AWS = { awsRegion: 'us-east-1', apiKey: 'bedrock-placeholder' } as const;

function optionsOf({ origin, headers, retries, fetch }: SdkConnection, path = '') {
  return { ...AWS, baseURL: `${origin}${path}`, defaultHeaders: headers, maxRetries: retries, fetch };
}

const bedrock = (at: SdkConnection) => new AnthropicBedrock(optionsOf(at));
const mantle = (at: SdkConnection) => new AnthropicBedrockMantle(optionsOf(at, '/anthropic'));
const platform = (at: SdkConnection) => new AnthropicAws({ ...optionsOf(at), workspaceId: 'wrkspc_demo' });

const BY_PATH = { 'X-Gateway-Provider': 'bedrock' };
const SERVED = 'claude-haiku-4-5-20251001';
const PRICED = {
  endpoint: 'messages',
  outcome: 'ok',
  model: SERVED,
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

const MANTLE_CASES: readonly SdkCase[] = [
  {
    title: 'create',
    answer: 'bedrock/messages',
    gatewayHeaders: BY_PATH,
    call: (at) => mantle(at).messages.create(HELLO),
    result: { content: [{ text: 'Tollgate demo: one shape, several hosts.' }] },
    record: {
      ...PRICED,
      provider: 'bedrock',
      region: 'us-east-1',
      model_requested: MODEL,
      input_tokens: 9,
      output_tokens: 12,
      // 9 × 1.1 + 12 × 5.5 per million
      total_cost: '0.0000759',
    },
  },
  {
    title: 'create with stream',
    answer: 'anthropic/messages-stream',
    gatewayHeaders: BY_PATH,
    call: async (at) => collect(await mantle(at).messages.create({ ...HELLO, stream: true })),
    record: {
      ...PRICED,
      provider: 'bedrock',
      model_requested: MODEL,
      streamed: true,
      input_tokens: 13,
      output_tokens: 24,
      // 13 × 1.1 + 24 × 5.5 per million
      total_cost: '0.0001463',
    },
  },
  {
    title: 'a tool call',
    answer: 'anthropic/messages-tool-use',
    gatewayHeaders: BY_PATH,
    call: (at) => mantle(at).messages.create(WITH_TOOL),
    result: { stop_reason: 'tool_use' },
    record: {
      ...PRICED,
      provider: 'bedrock',
      input_tokens: 412,
      output_tokens: 67,
      // 412 × 1.1 + 67 × 5.5 per million; its searches have no price on this host
      ...{ cost_status: 'partial', total_cost: null, known_cost: '0.0008217' },
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'anthropic/error-404',
    gatewayHeaders: BY_PATH,
    call: (at) => mantle(at).messages.create({ ...HELLO, model: 'claude-nonesuch' }),
    error: { name: 'NotFoundError', message: expect.stringContaining('model: claude-nonesuch'), status: 404 },
    record: {
      ...REFUSED_RECORD,
      provider: 'bedrock',
      endpoint: 'messages',
      model_requested: 'claude-nonesuch',
      status: 404,
    },
  },
];

const PLATFORM_CASES: readonly SdkCase[] = [
  {
    title: 'create',
    answer: 'anthropic/messages',
    call: (at) => platform(at).messages.create({ ...HELLO, model: 'claude-haiku-4-5' }),
    record: {
      ...PRICED,
      provider: 'anthropic',
      model_requested: 'claude-haiku-4-5',
      input_tokens: 13,
      output_tokens: 28,
      // 13 × 1 + 28 × 5 per million
      total_cost: '0.000153',
    },
  },
  {
    title: 'create with stream',
    answer: 'anthropic/messages-stream',
    call: async (at) =>
      collect(await platform(at).messages.create({ ...HELLO, model: 'claude-haiku-4-5', stream: true })),
    record: {
      ...PRICED,
      provider: 'anthropic',
      streamed: true,
      input_tokens: 13,
      output_tokens: 24,
      // 13 × 1 + 24 × 5 per million
      total_cost: '0.000133',
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'anthropic/error-404',
    call: (at) => platform(at).messages.create({ ...HELLO, model: 'claude-nonesuch' }),
    error: { name: 'NotFoundError', message: expect.stringContaining('model: claude-nonesuch'), status: 404 },
    record: { ...REFUSED_RECORD, provider: 'anthropic', endpoint: 'messages', status: 404 },
  },
];

const invoke: SdkCall = (at) => bedrock(at).messages.create(HELLO);
const INVOKED = {
  provider: 'bedrock',
  region: 'us-east-1',
  model_requested: MODEL,
  outcome: 'ok',
  status: 200,
} as const;
/** 9 × 1.1 + 12 × 5.5 per million. */
const INVOKED_WHOLE = { input_tokens: 9, output_tokens: 12, cost_status: 'exact', total_cost: '0.0000759' } as const;
/** 13 × 1.1 + 24 × 5.5 per million. */
const INVOKED_STREAM = { input_tokens: 13, output_tokens: 24, cost_status: 'exact', total_cost: '0.0001463' } as const;

export function testAnthropicAws(started: () => SdkComparison): void {
  describe('@anthropic-ai/bedrock-sdk, AnthropicBedrock', () => {
    test('create: as without the gateway, over invoke', async () => {
      const { through, records } = await started().compare({
        call: invoke,
        answer: () => answerFixture('bedrock/messages'),
      });
      expect(through.result).toMatchObject({ content: [{ text: 'Tollgate demo: one shape, several hosts.' }] });
      expect(through.requests[0]?.requestLine).toBe(`POST /model/${MODEL}/invoke HTTP/1.1`);
      expect(records).toMatchObject([{ ...INVOKED, endpoint: 'invoke', streamed: false, ...INVOKED_WHOLE }]);
    });

    test('create with stream: as without the gateway, over invoke-with-response-stream', async () => {
      const { through, records } = await started().compare({
        call: async (at) => collect(await bedrock(at).messages.create({ ...HELLO, stream: true })),
        answer: () => answerInvokeStream('messages-stream'),
      });
      expect(through.error).toBeNull();
      expect(through.result).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ type: 'message_start' }),
          expect.objectContaining({ type: 'message_stop' }),
        ]),
      );
      expect(records).toMatchObject([
        { ...INVOKED, endpoint: 'invoke-with-response-stream', streamed: true, ...INVOKED_STREAM },
      ]);
    });

    test('a model that does not exist: the error of the provider', () =>
      checkCase(started(), {
        title: '',
        answer: 'bedrock/error-400',
        call: (at) => bedrock(at).messages.create({ ...HELLO, model: 'nonesuch' }),
        error: {
          name: 'BadRequestError',
          message: expect.stringContaining('The provided model identifier is invalid.'),
          status: 400,
        },
        record: {
          ...REFUSED_RECORD,
          provider: 'bedrock',
          endpoint: 'invoke',
          model_requested: 'nonesuch',
          status: 400,
        },
      }));

    test('a gateway key that is none: the SDK shows why, once', () =>
      checkRefusal(started(), {
        call: invoke,
        error: { name: 'AuthenticationError', message: expect.stringContaining(KEY_MESSAGE), status: 401 },
      }));
  });

  describe('@anthropic-ai/bedrock-sdk, AnthropicBedrockMantle', () => {
    test.each(MANTLE_CASES)('$title: as without the gateway, and recorded with its exact cost', (tested) =>
      checkCase(started(), tested),
    );

    test('a rate limit with retries on: each try is recorded', () =>
      checkRetry(started(), {
        call: (at) => mantle(at).messages.create(HELLO),
        gatewayHeaders: BY_PATH,
        limited: answerFixture('anthropic/error-429', { 'retry-after-ms': '5' }),
        answer: 'bedrock/messages',
        attempts: [0, 1],
        totalCost: '0.0000759',
      }));
  });

  describe('@anthropic-ai/aws-sdk', () => {
    test.each(PLATFORM_CASES)('$title: as without the gateway, and recorded with its exact cost', (tested) =>
      checkCase(started(), tested),
    );
  });
}
