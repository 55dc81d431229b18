import Together from 'together-ai';
import { describe, expect, test } from 'vitest';
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
import { answerFixture, type SdkCall, type SdkComparison, type SdkConnection } from './sdk-comparison.ts';

const PRICED = {
  endpoint: 'chat.completions',
  outcome: 'ok',
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

export function testTogether(started: () => SdkComparison): void {
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
      checkCase(started(), { ...tested, gatewayHeaders }),
    );

    test('a rate limit: status, header and message reach the program', async () => {
      const { through, records } = await started().compare({
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
      checkRetry(started(), {
        call: chat,
        gatewayHeaders,
        limited: answerFixture('together/error-429', { 'retry-after-ms': '5' }),
        answer: 'together/chat',
        attempts: [0, 1],
        // 40 × 0.88 + 13 × 0.88 per million
        totalCost: '0.00004664',
      }));

    test('a gateway key that is none: the SDK shows why, once', () =>
      checkRefusal(started(), {
        call: chat,
        gatewayHeaders,
        error: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
      }));
  });
}
