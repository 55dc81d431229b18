import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  BedrockRuntimeClient,
  ConverseCommand,
  type ConverseCommandInput,
  ConverseStreamCommand,
  ThrottlingException,
} from '@aws-sdk/client-bedrock-runtime';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  checkCase,
  checkRefusal,
  checkRetry,
  collect,
  KEY_MESSAGE,
  REFUSED_RECORD,
  type SdkCase,
} from './sdk-cases.ts';
import {
  answerFixture,
  readHeader,
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

/** HTTP/1.1, as the client has to be told; a copy of each answer is kept. */
class KeepingHandler extends NodeHttpHandler {
  readonly #keep: SdkConnection['keep'];

  constructor(keep: SdkConnection['keep']) {
    super();
    this.#keep = keep;
  }

  override async handle(...given: Parameters<NodeHttpHandler['handle']>) {
    const { response } = await super.handle(...given);
    const body = await buffer(response.body);
    const headers = Object.entries(response.headers);
    this.#keep(Promise.resolve({ status: response.statusCode, headers, body }));
    response.body = Readable.from([body]);
    return { response };
  }
}

const BEARER = {
  region: 'us-east-1',
  token: { token: 'bedrock-placeholder' },
  authSchemePreference: ['httpBearerAuth'],
};

function connect({ origin, headers, retries, keep }: SdkConnection): BedrockRuntimeClient {
  const client = new BedrockRuntimeClient({
    ...BEARER,
    endpoint: origin,
    maxAttempts: retries + 1,
    requestHandler: new KeepingHandler(keep),
  });
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

const CASES: readonly SdkCase[] = [
  {
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
  },
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

test.each(CASES)('bedrock-runtime, $title: as without the gateway, and recorded with its exact cost', (tested) =>
  checkCase(comparison, tested),
);

test('bedrock-runtime, a rate limit: status, header and message reach the program', async () => {
  const { through, records } = await comparison.compare({
    call: converse,
    answer: () => answerFixture('bedrock/error-429', { 'retry-after': '20' }),
  });
  expect(through.error).toBeInstanceOf(ThrottlingException);
  expect(through.error).toMatchObject({
    message: 'Too many requests, please wait before trying again.',
    $metadata: { httpStatusCode: 429, attempts: 1 },
    $response: { headers: { 'retry-after': '20' } },
  });
  expect(readHeader(through.exchanges[0]?.headers ?? [], 'retry-after')).toBe('20');
  expect(through.requests).toHaveLength(1);
  expect(records).toMatchObject([{ ...REFUSED_RECORD, status: 429, attempt: 0 }]);
});

test('bedrock-runtime, a rate limit with retries on: each try is recorded', () =>
  checkRetry(comparison, {
    call: converse,
    limited: answerFixture('bedrock/error-429', { 'x-amz-retry-after': '5' }),
    answer: 'bedrock/converse',
    attempts: [0, 1],
    // 15 × 1.1 + 2000 × 0.11 + 600 × 1.375 + 400 × 2.2 + 26 × 5.5 per million
    totalCost: '0.0020845',
  }));

test('bedrock-runtime, a gateway key that is none: the SDK shows why, once', () =>
  checkRefusal(comparison, {
    call: converse,
    error: { name: 'AccessDeniedException', message: KEY_MESSAGE, status: 401 },
  }));

test.each([
  ['a short prompt', 'Hello?'],
  ['a prompt that is longer than what HTTP/2 sends at once', 'Hello? '.repeat(30_000)],
])('bedrock-runtime, left to its HTTP/2, %s: the error says what to pass instead', async (_, text) => {
  const client = new BedrockRuntimeClient({ ...BEARER, endpoint: comparison.gateway.base });
  const command = new ConverseCommand({ ...HELLO, messages: [{ role: 'user', content: [{ text }] }] });
  await expect(client.send(command)).rejects.toMatchObject({
    name: 'InternalServerException',
    message: 'This port speaks HTTP/1.1. For the AWS SDK for JavaScript pass `requestHandler: new NodeHttpHandler()`.',
    $metadata: { httpStatusCode: 505, attempts: 1 },
  });
  client.destroy();
});
