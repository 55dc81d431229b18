/**
 * The tests of `@aws-sdk/client-bedrock-runtime` with a Bedrock API key. To the gateway it speaks HTTP/2, as it does
 * unless it is told otherwise; straight to the scripted provider, which does not, it has to be told.
 */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  InvokeModelCommand,
  InvokeModelWithResponseStreamCommand,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { describe, expect, test } from 'vitest';
import { answerInvokeStream } from './invoke-stream.ts';
import {
  checkCase,
  collect,
  KEY_MESSAGE,
  REFUSED_RECORD,
  retryAfterOfConnection,
  type SdkCase,
  testSdk,
} from './sdk-cases.ts';
import { answerFixture, type SdkCall, type SdkComparison, type SdkConnection } from './sdk-comparison.ts';

const BEARER = {
  region: 'us-east-1',
  token: { token: 'bedrock-placeholder' },
  authSchemePreference: ['httpBearerAuth'],
};

/** `protocol` of the calls through the gateway; every other setting is the SDK's own. */
function connect(at: SdkConnection, protocol: 'HTTP/2' | 'HTTP/1.1' = 'HTTP/2'): BedrockRuntimeClient {
  const { origin, headers, retries, isDirect } = at;
  const client = new BedrockRuntimeClient({
    ...BEARER,
    endpoint: origin,
    maxAttempts: retries + 1,
    ...(isDirect || protocol === 'HTTP/1.1' ? { requestHandler: new NodeHttpHandler() } : {}),
  });
  handleAnswers(client, at.keep, isDirect && protocol === 'HTTP/2');
  // The SDK has no setting for further headers.
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args;
      if (typeof request === 'object' && request !== null && 'headers' in request) {
        Object.assign(Object(request.headers), headers);
      }
      return next(args);
    },
    { step: 'build', name: 'gatewayHeaders' },
  );
  return client;
}

/** A copy of each answer is kept. Where it is compared with HTTP/2, the names of headers are in lower case as there. */
function handleAnswers(client: BedrockRuntimeClient, keep: SdkConnection['keep'], lowersNames: boolean): void {
  const { requestHandler } = client.config;
  const handle = requestHandler.handle.bind(requestHandler);
  Object.assign(requestHandler, {
    async handle(...given: Parameters<typeof handle>) {
      const [request] = given;
      if (lowersNames) {
        const lowered = Object.entries<string>(request.headers).map(([name, value]) => [name.toLowerCase(), value]);
        request.headers = Object.fromEntries(lowered);
      }
      const { response } = await handle(...given);
      const body = await buffer(response.body);
      // HTTP/2 has pseudo-headers among its headers.
      const headers = Object.entries<string>(response.headers).filter(([name]) => !name.startsWith(':'));
      keep(Promise.resolve({ status: response.statusCode, headers, body }));
      response.body = Readable.from([body]);
      return { response };
    },
  });
}

const MODEL = 'us.anthropic.claude-haiku-4-5-20251001-v1:0';
const HELLO: ConverseCommandInput = {
  modelId: MODEL,
  messages: [{ role: 'user', content: [{ text: 'Introduce the demo.' }] }],
  inferenceConfig: { maxTokens: 256 },
};
const converse: SdkCall = async (at) => {
  const { $metadata, ...answer } = await connect(at).send(new ConverseCommand(HELLO));
  const { httpStatusCode, requestId, attempts } = $metadata; // without the time it waited, which is random
  return { ...answer, httpStatusCode, requestId, attempts };
};

const PRICED = {
  provider: 'bedrock',
  outcome: 'ok',
  region: 'us-east-1',
  model: null,
  model_requested: MODEL,
  billing_model: MODEL,
  usage_source: 'provider',
  cost_status: 'exact',
} as const;

const INVOKED = {
  provider: 'bedrock',
  outcome: 'ok',
  status: 200,
  region: 'us-east-1',
  model_requested: MODEL,
} as const;
/** 9 × 1.1 + 12 × 5.5 per million. */
const INVOKED_WHOLE = { input_tokens: 9, output_tokens: 12, cost_status: 'exact', total_cost: '0.0000759' } as const;
/** 13 × 1.1 + 24 × 5.5 per million. */
const INVOKED_STREAM = { input_tokens: 13, output_tokens: 24, cost_status: 'exact', total_cost: '0.0001463' } as const;
const INVOKE_BODY = JSON.stringify({
  anthropic_version: 'bedrock-2023-05-31',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'Hello.' }],
});

const CONVERSE: SdkCase = {
  title: 'converse',
  answer: 'bedrock/converse',
  call: converse,
  result: { stopReason: 'end_turn', usage: { inputTokens: 15, outputTokens: 26 } },
  record: {
    ...PRICED,
    endpoint: 'converse',
    streamed: false,
    attempt: 0,
    provider_request_id: 'req_demo_0036',
    input_tokens: 15,
    cache_read_input_tokens: 2000,
    cache_creation_input_tokens: 1000,
    cache_creation_5m_tokens: 600,
    cache_creation_1h_tokens: 400,
    output_tokens: 26,
    // 15 × 1.1 + 2000 × 0.11 + 600 × 1.375 + 400 × 2.2 + 26 × 5.5 per million
    total_cost: '0.0020845',
  },
};

const CASES: readonly SdkCase[] = [
  CONVERSE,
  {
    title: 'converse-stream',
    answer: 'bedrock/converse-stream',
    call: async (at) => {
      const { stream, $metadata } = await connect(at).send(new ConverseStreamCommand(HELLO));
      if (stream === undefined) throw new Error('no stream');
      const events = await collect(stream);
      return { $metadata, events, text: events.map((event) => event.contentBlockDelta?.delta?.text ?? '').join('') };
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
    call: (at) =>
      connect(at).send(
        new ConverseCommand({
          ...HELLO,
          toolConfig: { tools: [{ toolSpec: { name: 'read_toll', inputSchema: { json: { type: 'object' } } } }] },
        }),
      ),
    result: {
      stopReason: 'tool_use',
      output: { message: { content: [{ text: expect.any(String) }, { toolUse: { input: { road: 'A1' } } }] } },
    },
    record: {
      ...PRICED,
      endpoint: 'converse',
      input_tokens: 402,
      cache_read_input_tokens: 0,
      output_tokens: 61,
      // 402 × 1.1 + 61 × 5.5 per million
      total_cost: '0.0007777',
    },
  },
  {
    title: 'a model that does not exist',
    answer: 'bedrock/error-400',
    call: (at) => connect(at).send(new ConverseCommand({ ...HELLO, modelId: 'nonesuch' })),
    error: { name: 'ValidationException', message: 'The provided model identifier is invalid.', status: 400 },
    record: {
      ...REFUSED_RECORD,
      provider: 'bedrock',
      endpoint: 'converse',
      model_requested: 'nonesuch',
      status: 400,
      error_message: 'The provided model identifier is invalid.',
    },
  },
];

export function testBedrock(started: () => SdkComparison): void {
  testSdk(started, {
    name: '@aws-sdk/client-bedrock-runtime',
    cases: CASES,
    limit: {
      call: converse,
      limited: 'bedrock/error-429',
      limitedHeaders: { 'retry-after': '20' },
      error: { name: 'ThrottlingException', message: 'Too many requests, please wait before trying again.' },
      errorDetails: { $metadata: { attempts: 1 }, $response: { headers: { 'retry-after': '20' } } },
      retryAfter: { value: '20', read: retryAfterOfConnection },
      record: { attempt: 0 },
      retryHeaders: { 'x-amz-retry-after': '5' },
      answer: 'bedrock/converse',
      attempts: [0, 1],
      // 15 × 1.1 + 2000 × 0.11 + 600 × 1.375 + 400 × 2.2 + 26 × 5.5 per million
      totalCost: '0.0020845',
    },
    refusal: { name: 'AccessDeniedException', message: KEY_MESSAGE, status: 401 },
  });

  describe('@aws-sdk/client-bedrock-runtime', () => {
    test('left to itself it speaks HTTP/2, which these tests are about', () => {
      const { requestHandler } = new BedrockRuntimeClient(BEARER).config;
      expect(requestHandler.metadata).toEqual({ handlerProtocol: 'h2' });
    });

    test('told to speak HTTP/1.1: the same', () =>
      checkCase(started(), {
        ...CONVERSE,
        call: (at) => connect(at, 'HTTP/1.1').send(new ConverseCommand(HELLO)),
        result: { stopReason: 'end_turn' },
      }));

    test('a prompt that is longer than what HTTP/2 sends at once', async () => {
      const text = 'Hello? '.repeat(30_000);
      const { through, records } = await started().compare({
        call: (at) =>
          connect(at).send(new ConverseCommand({ ...HELLO, messages: [{ role: 'user', content: [{ text }] }] })),
        answer: () => answerFixture('bedrock/converse'),
      });
      expect(through.error).toBeNull();
      expect(through.requests[0]?.body().length).toBeGreaterThan(210_000);
      expect(records).toMatchObject([{ ...PRICED, endpoint: 'converse', total_cost: '0.0020845' }]);
    });

    test('invoke: the model’s own format, whole', async () => {
      const { through, records } = await started().compare({
        call: async (at) => {
          const { body } = await connect(at).send(new InvokeModelCommand({ modelId: MODEL, body: INVOKE_BODY }));
          return JSON.parse(body.transformToString());
        },
        answer: () => answerFixture('bedrock/messages'),
      });
      expect(through.result).toMatchObject({
        content: [{ text: 'Tollgate demo: one shape, several hosts.' }],
        usage: { input_tokens: 9, output_tokens: 12 },
      });
      expect(records).toMatchObject([{ ...INVOKED, endpoint: 'invoke', streamed: false, ...INVOKED_WHOLE }]);
    });

    test('invoke-with-response-stream: the model’s own events, as chunks', async () => {
      const { through, records } = await started().compare({
        call: async (at) => {
          const command = new InvokeModelWithResponseStreamCommand({ modelId: MODEL, body: INVOKE_BODY });
          const { body } = await connect(at).send(command);
          if (body === undefined) throw new Error('no stream');
          const events = await collect(body);
          return events.map(({ chunk }) => JSON.parse(Buffer.from(chunk?.bytes ?? []).toString('utf8')));
        },
        answer: () => answerInvokeStream('messages-stream'),
      });
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
  });
}
