/** The tests of `openai`: chat, responses, embeddings, pictures, sound, and what is fetched later. */
import OpenAI, { toFile } from 'openai';
import { describe, expect, test } from 'vitest';
import { collect, KEY_MESSAGE, REFUSED_RECORD, retryAfterOfError, type SdkCase, testSdk } from './sdk-cases.ts';
import { answerFixture, type SdkCall, type SdkComparison, type SdkConnection } from './sdk-comparison.ts';

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
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
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
    title: 'a picture',
    answer: 'openai/images',
    call: (at) =>
      connect(at).images.generate({ model: 'gpt-image-2', prompt: 'A toll gate at dawn.', quality: 'high' }),
    record: {
      ...PRICED,
      endpoint: 'images.generations',
      model_requested: 'gpt-image-2',
      usage: { input: 14, input_image: 0, output: 60, output_image: 4160 },
      // 14 × 5 + (60 + 4160) × 30 per million
      total_cost: '0.12667',
    },
  },
  {
    title: 'a picture as a stream',
    answer: 'openai/images-stream',
    call: async (at) =>
      collect(
        await connect(at).images.generate({
          model: 'gpt-image-2',
          prompt: 'A toll gate at dusk.',
          stream: true,
          partial_images: 1,
        }),
      ),
    record: {
      ...PRICED,
      endpoint: 'images.generations',
      streamed: true,
      usage: { input: 50, input_image: 300, output: 0, output_image: 4160 },
      // 50 × 5 + 300 × 8 + 4160 × 30 per million
      total_cost: '0.12745',
    },
  },
  {
    title: 'a transcription, by tokens',
    answer: 'openai/transcription',
    call: async (at) =>
      connect(at).audio.transcriptions.create({
        model: 'gpt-4o-transcribe',
        file: await toFile(Buffer.from('RIFF'), 'toll.wav'),
      }),
    result: { text: 'Every call is metered.' },
    record: {
      ...PRICED,
      endpoint: 'audio.transcriptions',
      model_requested: 'gpt-4o-transcribe',
      usage: { input: 20, input_audio: 1380, output: 310 },
      // 20 × 2.5 + 1380 × 6 + 310 × 10 per million
      total_cost: '0.0066',
    },
  },
  {
    title: 'a transcription, by the minute',
    answer: 'openai/transcription-duration',
    call: async (at) =>
      connect(at).audio.transcriptions.create({
        model: 'whisper-1',
        file: await toFile(Buffer.from('RIFF'), 'toll.wav'),
        response_format: 'verbose_json',
      }),
    record: {
      ...PRICED,
      endpoint: 'audio.transcriptions',
      model_requested: 'whisper-1',
      usage: { input_audio_ms: 9000 },
      // 9 s × 0.006 per minute
      total_cost: '0.0009',
    },
  },
  {
    title: 'speech, by the character',
    answer: 'openai/speech',
    call: async (at) => {
      const sound = await connect(at).audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Zoll 🛂, prêt!' });
      return { bytes: (await sound.arrayBuffer()).byteLength };
    },
    record: {
      ...PRICED,
      endpoint: 'audio.speech',
      usage_source: 'request',
      usage: { input_characters: 13 },
      // 13 × 15 per million
      total_cost: '0.000195',
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

/** What is asked for now and made later: the first record that carries the result has its cost, and no other. */
const LATER: readonly {
  readonly title: string;
  readonly created: string;
  readonly fetched: string;
  readonly create: SdkCall;
  readonly fetch: SdkCall;
  readonly totalCost: string;
}[] = [
  {
    title: 'a background response',
    created: 'openai/responses-background-created',
    fetched: 'openai/responses-background-fetched',
    create: (at) => connect(at).responses.create({ model: 'gpt-5-mini', input: 'Take your time.', background: true }),
    fetch: (at) => connect(at).responses.retrieve('resp_bg0001'),
    // 200 × 0.25 + 100 × 0.025 + 90 × 2 per million
    totalCost: '0.0002325',
  },
  {
    title: 'a batch',
    created: 'openai/batch-created',
    fetched: 'openai/batch-fetched',
    create: (at) =>
      connect(at).batches.create({
        input_file_id: 'file-demo1',
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }),
    fetch: (at) => connect(at).batches.retrieve('batch_demo1'),
    // (1500 × 0.25 + 500 × 0.025 + 700 × 2) / 2 per million
    totalCost: '0.00089375',
  },
];

export function testOpenai(started: () => SdkComparison): void {
  describe('openai', () => {
    test.each(LATER)('$title, fetched three times: as without the gateway, and counted once', async (later) => {
      const ask = async (call: SdkCall, fixture: string) =>
        (await started().compare({ call, answer: () => answerFixture(fixture) })).records[0];
      const status = ({ cost_status, total_cost, flags }: Readonly<Record<string, unknown>> = {}) => [
        cost_status,
        total_cost,
        flags,
      ];
      expect(status(await ask(later.create, later.created))).toEqual(['not_billed', '0', ['usage_later']]);
      expect(status(await ask(later.fetch, later.fetched))).toEqual(['exact', later.totalCost, []]);
      const again = ['not_billed', '0', ['usage_counted_before']];
      expect(status(await ask(later.fetch, later.fetched))).toEqual(again);
      expect(status(await ask(later.fetch, later.fetched))).toEqual(again);
    });

    test('a chat stream that does not ask for usage: the same chunks as without the gateway, and exact usage', async () => {
      const { through, records } = await started().compare({
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
  });
  testSdk(started, {
    name: 'openai',
    cases: CASES,
    limit: {
      call: chat,
      limited: 'openai/error-429',
      error: {
        name: 'RateLimitError',
        message:
          '429 Rate limit reached for gpt-4o-mini on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
      },
      errorDetails: { code: 'rate_limit_exceeded', requestID: 'req_demo_0017' },
      retryAfter: { value: '20', read: retryAfterOfError },
      record: { error_type: 'requests', attempt: 0 },
      retryHeaders: { 'retry-after-ms': '5' },
      answer: 'openai/chat',
      attempts: [0, 1],
      // 14 × 0.15 + 41 × 0.6 per million
      totalCost: '0.0000267',
    },
    refusal: { name: 'AuthenticationError', message: `401 ${KEY_MESSAGE}`, status: 401 },
  });
}
