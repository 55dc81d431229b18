import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { describe, expect, test, vi } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';
import { createUsageReader, FINISH_STALL_MS, type UsageReader } from './usage-reader.ts';

const SSE = 'text/event-stream; charset=utf-8';
const JSON_TYPE = 'application/json';
const FRAMES = 'application/vnd.amazon.eventstream';

function open(
  format: UsageFormatName,
  contentType: string | null,
  status = 200,
  contentEncoding: string | null = null,
): UsageReader {
  return createUsageReader({ format: USAGE_FORMATS[format], status, contentType, contentEncoding });
}

function finish(reader: UsageReader, complete = true): Promise<ReportedUsage> {
  return new Promise((resolve) => reader.finish(complete, resolve));
}

/** Reads without an encoding, where the answer must be there before `finish` returns. */
function readNow(reader: UsageReader, pieces: readonly Buffer[], complete = true): ReportedUsage | null {
  let result: ReportedUsage | null = null;
  for (const piece of pieces) reader.push(piece);
  reader.finish(complete, (reported) => {
    result = reported;
  });
  return result;
}

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text),
);

function frame(messageType: string, typeName: string, type: string, payload: string): Buffer {
  const headers = {
    ':message-type': { type: 'string' as const, value: messageType },
    [typeName]: { type: 'string' as const, value: type },
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(payload) }));
}

function event(type: string, payload: string): Buffer {
  return frame('event', ':event-type', type, payload);
}

function chunk(json: string): Buffer {
  return event('chunk', `{"bytes":"${Buffer.from(json).toString('base64')}","p":"abcdef"}`);
}

const CHAT_USAGE =
  '{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":4,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2}}';
const CHAT_STREAM = [
  ': keep-alive\n\n',
  'data: {"object":"chat.completion.chunk","model":"gpt-5-2025-08-07","service_tier":"default","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}\n\n',
  'data: {"object":"chat.completion.chunk","model":"gpt-5-2025-08-07","choices":[{"index":0,"delta":{"content":"你好🌍 \\"usage\\":{"},"finish_reason":null}],"usage":null}\n\n',
  `data: {"object":"chat.completion.chunk","model":"gpt-5-2025-08-07","choices":[],"usage":${CHAT_USAGE}}\n\n`,
  'data: [DONE]\n\n',
].join('');
const CHAT_JSON = `{"object":"chat.completion","model":"gpt-5-2025-08-07","service_tier":"default","choices":[{"message":{"content":"你好🌍"}}],"usage":${CHAT_USAGE}}`;

const MESSAGE_EVENTS = [
  '{"type":"message_start","message":{"model":"claude-sonnet-5","content":[],"usage":{"input_tokens":9,"cache_creation_input_tokens":5,"cache_read_input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"us"}}}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
  '{"type": "ping"}',
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello \\"message_stop\\""}}',
  '{"type":"content_block_stop","index":0}',
  '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":9,"cache_read_input_tokens":1,"output_tokens":16,"server_tool_use":null}}',
  '{"type":"message_stop"}',
];
const MESSAGE_STREAM = MESSAGE_EVENTS.map(
  (json) => `event: ${/"type": ?"(\w+)"/.exec(json)?.[1]}\ndata: ${json}\n\n`,
).join('');
const MESSAGE_JSON =
  '{"type":"message","model":"claude-sonnet-5","content":[],"usage":{"input_tokens":9,"cache_creation_input_tokens":5,"cache_read_input_tokens":1,"cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":0},"output_tokens":16,"service_tier":"standard","inference_geo":"us","server_tool_use":null}}';

const RESPONSE = `"model":"gpt-5","service_tier":"flex","error":null,"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":6},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":20},"total_tokens":123}`;
const RESPONSE_STREAM = [
  'event: response.created\ndata: {"type":"response.created","response":{"model":"gpt-5","error":null,"usage":null}}\n\n',
  'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"Hi"}\n\n',
  `event: response.completed\ndata: {"type":"response.completed","response":{"status":"completed",${RESPONSE}}}\n\n`,
].join('');

const GEMINI_PARTS = [
  '{"candidates":[{"content":{"parts":[{"text":"Hel ]}"}]}}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":8},"modelVersion":"gemini-2.5-flash"}',
  '{"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":5,"thoughtsTokenCount":3,"totalTokenCount":16},"modelVersion":"gemini-2.5-flash"}',
];
const GEMINI_SSE = GEMINI_PARTS.map((part) => `data: ${part}\r\n\r\n`).join('');
const GEMINI_ARRAY = `[${GEMINI_PARTS.join('\n,\r\n')}\n]\n`;

const CONVERSE_USAGE =
  '{"inputTokens":12,"outputTokens":8,"totalTokens":25,"cacheReadInputTokens":5,"cacheWriteInputTokens":0}';
const CONVERSE_STREAM = Buffer.concat([
  event('messageStart', '{"role":"assistant","p":"abc"}'),
  event('contentBlockDelta', '{"contentBlockIndex":0,"delta":{"text":"hi"}}'),
  event('messageStop', '{"stopReason":"end_turn"}'),
  event('metadata', `{"usage":${CONVERSE_USAGE},"metrics":{"latencyMs":400}}`),
]);

/** Each sample as a stream, and as the JSON answer that says the same (null where the provider has none). */
const SAMPLES: readonly (readonly [string, UsageFormatName, string, Buffer, string | null])[] = [
  ['chat completions', 'chat-completions', SSE, Buffer.from(CHAT_STREAM), CHAT_JSON],
  ['messages', 'messages', SSE, Buffer.from(MESSAGE_STREAM), MESSAGE_JSON],
  [
    'messages without event lines',
    'messages',
    SSE,
    Buffer.from(MESSAGE_STREAM.replaceAll(/^event: .*\n/gm, '')),
    MESSAGE_JSON,
  ],
  [
    'messages in the frames of an invoke stream',
    'messages',
    FRAMES,
    Buffer.concat(MESSAGE_EVENTS.map(chunk)),
    MESSAGE_JSON,
  ],
  ['responses', 'responses', SSE, Buffer.from(RESPONSE_STREAM), `{"status":"completed",${RESPONSE}}`],
  ['generateContent as SSE', 'generate-content', SSE, Buffer.from(GEMINI_SSE), GEMINI_PARTS[1] ?? null],
  ['generateContent as an array', 'generate-content', JSON_TYPE, Buffer.from(GEMINI_ARRAY), GEMINI_PARTS[1] ?? null],
  ['Converse', 'converse', FRAMES, CONVERSE_STREAM, `{"output":{},"usage":${CONVERSE_USAGE}}`],
];

const ENCODERS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

describe.each(SAMPLES)('a stream of %s', (_, format, contentType, stream, json) => {
  const whole = readNow(open(format, contentType), [stream]);

  test('is read whole: usage, ending, nothing odd', () => {
    expect(whole?.usage).not.toBeNull();
    expect(whole?.terminal).toBe(true);
    expect(whole?.flags).toEqual([]);
    expect(whole?.error).toBeNull();
  });

  test('says the same as the JSON answer', () => {
    if (json === null) return;
    expect(readNow(open(format, JSON_TYPE), [Buffer.from(json)])).toEqual(whole);
  });

  test('reads the same at every cut and byte by byte', () => {
    for (let at = 0; at <= stream.length; at += 1) {
      expect(readNow(open(format, contentType), [stream.subarray(0, at), stream.subarray(at)])).toEqual(whole);
    }
    expect(
      readNow(
        open(format, contentType),
        Array.from(stream, (byte) => Buffer.from([byte])),
      ),
    ).toEqual(whole);
  });

  test.each(ENCODERS)('reads the same in %s', async (encoding, encode) => {
    const encoded = encode(stream);
    const reader = open(format, contentType, 200, encoding);
    expect(reader.push(encoded.subarray(0, 20))).toBe(false);
    expect(reader.push(encoded.subarray(20))).toBe(false);
    expect(await finish(reader)).toEqual(whole);
    expect(reader.bufferedBytes).toBe(0);
  });

  test('cut anywhere, claims no more than was said and remarks nothing', () => {
    const classes = whole?.usage?.classes ?? {};
    for (let at = 0; at < stream.length; at += 1) {
      const reported = readNow(open(format, contentType), [stream.subarray(0, at)], false);
      expect(reported?.flags).toEqual([]);
      for (const [name, quantity] of Object.entries(reported?.usage?.classes ?? {})) {
        expect(quantity).toBeLessThanOrEqual(Object.entries(classes).find(([key]) => key === name)?.[1] ?? 0);
      }
    }
  });

  test('is done exactly once, and later bytes are ignored', () => {
    const reader = open(format, contentType);
    let calls = 0;
    reader.push(stream);
    for (let times = 0; times < 3; times += 1) reader.finish(true, () => (calls += 1));
    expect(reader.push(stream)).toBe(false);
    expect(calls).toBe(1);
    expect(reader.reported).toEqual(whole);
  });
});

describe('a checkpoint is due', () => {
  test('when a chunk carries usage or the ending, and not before', () => {
    const reader = open('chat-completions', SSE);
    const due = CHAT_STREAM.split('\n\n').map((text) => reader.push(Buffer.from(`${text}\n\n`)));
    expect(due).toEqual([false, false, false, true, true, false]);
  });

  test('at the start and the end of messages', () => {
    const reader = open('messages', SSE);
    const due = MESSAGE_EVENTS.map((json) => reader.push(Buffer.from(`data: ${json}\n\n`)));
    expect(due).toEqual([true, false, false, false, false, true, true]);
  });

  test('when an error comes', () => {
    const reader = open('messages', SSE);
    const text = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    expect(reader.push(Buffer.from(text))).toBe(true);
    expect(reader.reported.error).toEqual({ type: 'overloaded_error', message: 'Overloaded' });
    expect(reader.reported.terminal).toBe(false);
  });
});

describe('content', () => {
  test.each<[UsageFormatName, string, readonly string[], readonly boolean[]]>([
    ['chat-completions', SSE, CHAT_STREAM.split('\n\n'), [false, false, true, true, true, true]],
    ['messages', SSE, MESSAGE_STREAM.split('\n\n'), [false, false, false, true, true, true, true, true]],
    ['responses', SSE, RESPONSE_STREAM.split('\n\n'), [false, true, true, true]],
  ])('of %s begins with its first text', (format, contentType, parts, expected) => {
    const reader = open(format, contentType);
    const seen = parts.map((part) => {
      reader.push(Buffer.from(`${part}\n\n`));
      return reader.sawContent;
    });
    expect(seen).toEqual(expected);
  });
});

describe('the model is known', () => {
  test('of a chat stream that is cut before its usage', () => {
    const [, first = ''] = CHAT_STREAM.split('\n\n');
    const reported = readNow(open('chat-completions', SSE), [Buffer.from(`${first}\n\n`)], false);
    expect(reported).toEqual({ ...NOTHING_REPORTED, model: 'gpt-5-2025-08-07', serviceTier: 'default' });
  });
});

describe('JSON answers', () => {
  test('may be preceded by blank lines', () => {
    const body = [Buffer.from('\n\n'), Buffer.from(' \r\n'), Buffer.from(CHAT_JSON)];
    expect(readNow(open('chat-completions', JSON_TYPE), body)?.usage?.classes.output).toBe(10);
    expect(
      readNow(open('generate-content', 'application/json; charset=UTF-8'), [
        Buffer.from('\n'),
        Buffer.from(GEMINI_ARRAY),
      ])?.usage?.classes.output,
    ).toBe(8);
  });

  test('may have white space of any kind and a byte order mark in front, behind and as parameters of their type', () => {
    const body = Buffer.from(`\uFEFF\r\n \t\n${CHAT_JSON}\n\n`);
    const reported = readNow(open('chat-completions', 'Application/JSON ; charset="utf-8"'), [body]);
    expect(reported?.usage).not.toBeNull();
    expect(reported?.flags).toEqual([]);
    expect(reported?.terminal).toBe(true);
  });

  test('of several megabytes still count the pictures in them', () => {
    const picture = JSON.stringify('A'.repeat(900_000));
    const reported = readNow(open('invoke', JSON_TYPE), [
      Buffer.from(`{"images":[${picture}, ${picture}],"error":null}`),
    ]);
    expect(reported?.usage?.classes).toEqual({ output_images: 2 });
  });

  test('of several megabytes are read without parsing what is large', () => {
    const vectors = JSON.stringify(Array.from({ length: 100_000 }, (_, index) => index / 7));
    const body = `{"object":"list","data":[{"embedding":${vectors}}],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}`;
    expect(readNow(open('embeddings', JSON_TYPE), [Buffer.from(body)])).toMatchObject({
      model: 'm',
      usage: { classes: { input: 8 } },
      terminal: true,
      flags: [],
    });
  });

  test('with more in them than is looked into have what usage they say, as incomplete, and that is remarked', () => {
    const items = Array.from({ length: 60_000 }, () => ({ type: 'message', status: 'completed' }));
    const body = JSON.stringify({ model: 'm', output: items, usage: { input_tokens: 8, output_tokens: 2 } });
    expect(readNow(open('responses', JSON_TYPE), [Buffer.from(body)])).toMatchObject({
      usage: { classes: { input: 8, output: 2 }, isIncomplete: true },
      flags: ['tap_limit'],
    });
  });

  test('of blanks alone are held nowhere', () => {
    const reader = open('embeddings', JSON_TYPE);
    const piece = Buffer.alloc(1024 * 1024, 32);
    for (let times = 0; times < 9; times += 1) reader.push(piece);
    expect(reader.bufferedBytes).toBe(0);
    expect(readNow(reader, [])).toEqual({ ...NOTHING_REPORTED, flags: ['undecodable'], shortfall: 'not_json' });
  });

  test('that were cut after their usage keep it, and have no ending', () => {
    const body = `{"model":"m","usage":{"prompt_tokens":3,"completion_tokens":4},"choices":[{"message":{"content":"ab`;
    expect(readNow(open('chat-completions', JSON_TYPE), [Buffer.from(body)], false)).toMatchObject({
      usage: { classes: { input: 3, output: 4 } },
      model: 'm',
      terminal: false,
      flags: [],
    });
  });

  test('that are no JSON are remarked, and so is an empty one', () => {
    expect(readNow(open('messages', JSON_TYPE), [Buffer.from('<html>')])).toEqual({
      ...NOTHING_REPORTED,
      shortfall: 'not_json',
      flags: ['undecodable'],
    });
    expect(readNow(open('messages', JSON_TYPE), [])).toEqual({ ...NOTHING_REPORTED, shortfall: 'not_json' });
  });

  test('answer a request for a stream, and the content type decides', () => {
    const body = Buffer.from(
      '{"message":"The security token is not valid","__type":"com.amazon#AccessDeniedException:http://x"}',
    );
    expect(readNow(open('converse', JSON_TYPE, 403), [body])).toEqual({
      ...NOTHING_REPORTED,
      terminal: true,
      error: { type: 'AccessDeniedException', message: 'The security token is not valid' },
    });
  });
});

describe('error bodies', () => {
  test.each<[string, UsageFormatName, string, string | null, string | null]>([
    [
      'OpenAI',
      'chat-completions',
      '{"error":{"message":"no","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}',
      'invalid_request_error',
      'no',
    ],
    [
      'OpenAI, code only',
      'responses',
      '{"error":{"message":"no","type":null,"code":"model_not_found"}}',
      'model_not_found',
      'no',
    ],
    [
      'Anthropic',
      'messages',
      '{"type":"error","error":{"type":"rate_limit_error","message":"slow"},"request_id":"r"}',
      'rate_limit_error',
      'slow',
    ],
    [
      'Google',
      'generate-content',
      '{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}',
      'RESOURCE_EXHAUSTED',
      'quota',
    ],
    [
      'Google, in an array',
      'generate-content',
      '[{"error":{"code":503,"message":"busy","status":"UNAVAILABLE"}}]',
      'UNAVAILABLE',
      'busy',
    ],
    ['AWS', 'converse', '{"message":"bad"}', null, 'bad'],
    ['AWS, upper case', 'opaque', '{"Message":"bad"}', null, 'bad'],
    ['AWS on an invoke path', 'messages', '{"message":"bad"}', null, 'bad'],
    ['Fireworks', 'chat-completions', '{"error":"text"}', null, 'text'],
  ])('of %s', (_, format, body, type, message) => {
    expect(readNow(open(format, JSON_TYPE, 429), [Buffer.from(body)])?.error).toEqual({ type, message });
  });

  test('have a bounded message', () => {
    const body = JSON.stringify({ error: { message: 'x'.repeat(5000) } });
    expect(readNow(open('chat-completions', JSON_TYPE, 400), [Buffer.from(body)])?.error?.message).toHaveLength(1000);
  });

  test('in plain text are not read', () => {
    expect(readNow(open('messages', 'text/plain', 502), [Buffer.from('Bad gateway')])).toEqual(NOTHING_REPORTED);
  });
});

describe('what goes wrong inside a stream', () => {
  test('an exception frame is an error', () => {
    const stream = [
      CONVERSE_STREAM.subarray(0, 0),
      frame('exception', ':exception-type', 'throttlingException', '{"message":"slow"}'),
    ];
    expect(readNow(open('converse', FRAMES), stream)?.error).toEqual({ type: 'throttlingException', message: 'slow' });
    expect(readNow(open('messages', FRAMES), stream)?.error).toEqual({ type: 'throttlingException', message: 'slow' });
  });

  test('usage in a frame with a wrong checksum is not trusted', () => {
    const broken = Buffer.from(CONVERSE_STREAM);
    broken[broken.length - 6] = (broken[broken.length - 6] ?? 0) ^ 1;
    expect(readNow(open('converse', FRAMES), [broken])).toEqual({ ...NOTHING_REPORTED, flags: ['undecodable'] });
  });

  test('a frame that the end of the answer leaves half is remarked, where the connection was not cut', () => {
    const half = CONVERSE_STREAM.subarray(0, CONVERSE_STREAM.length - 7);
    expect(readNow(open('converse', FRAMES), [half])?.flags).toEqual(['undecodable']);
    expect(readNow(open('converse', FRAMES), [half], false)?.flags).toEqual([]);
  });

  test('an array that its end leaves open keeps what was read and is remarked in the same way', () => {
    const half = Buffer.from(GEMINI_ARRAY).subarray(0, Buffer.from(GEMINI_ARRAY).lastIndexOf(']'));
    const reported = readNow(open('generate-content', JSON_TYPE), [half]);
    expect(reported?.usage).not.toBeNull();
    expect(reported?.flags).toEqual(['undecodable']);
    expect(readNow(open('generate-content', JSON_TYPE), [half], false)?.flags).toEqual([]);
  });

  test('an event whose JSON was cut and padded is passed over, and the usage after it is read', () => {
    const padded = 'data: {"choices":[],"usage":{"prompt_tokens":19,"compl           \n\n';
    const reported = readNow(open('chat-completions', SSE), [Buffer.from(padded + CHAT_STREAM)]);
    expect(reported?.usage?.classes.output).toBe(10);
    expect(reported?.flags).toEqual(['undecodable']);
  });

  test('an event of two data lines is one JSON text', () => {
    const text = 'data: {"choices":[],"usage":\ndata: {"prompt_tokens":1,"completion_tokens":2}}\n\n';
    expect(readNow(open('chat-completions', SSE), [Buffer.from(text)])?.usage?.classes).toEqual({
      input: 1,
      output: 2,
    });
  });

  test('a tool schema with a property named usage is not usage', () => {
    const text =
      'data: {"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"{\\"usage\\":{\\"prompt_tokens\\":7}}"}}]}}]}\n\n';
    expect(readNow(open('chat-completions', SSE), [Buffer.from(text)])?.usage).toBeNull();
  });
});

test('a stream that reports ever new names does not make its record grow with them', () => {
  const reader = createUsageReader({
    format: USAGE_FORMATS['chat-completions'],
    status: 200,
    contentType: 'text/event-stream',
    contentEncoding: null,
  });
  for (let event = 0; event < 40; event += 1) {
    const names = Array.from({ length: 20 }, (_, index) => `"n${event}_${index}":1`).join(',');
    reader.push(Buffer.from(`data: {"usage":{"prompt_tokens":${event},"completion_tokens":1,${names}}}\n\n`));
  }
  expect(reader.reported.usage?.classes).toEqual({ input: 39, output: 1 });
  expect(Object.keys(reader.reported.usage?.native ?? {})).toHaveLength(256);
});

describe('encoded answers', () => {
  test('that were cut keep the usage that was decoded', async () => {
    const encoded = gzipSync(Buffer.from(MESSAGE_STREAM + ': padding\n\n'.repeat(50)));
    const reader = open('messages', SSE, 200, 'gzip');
    reader.push(encoded.subarray(0, encoded.length - 12));
    const reported = await finish(reader, false);
    expect(reported.usage?.classes.input).toBe(9);
    expect(reported.flags).toEqual([]);
  });

  test('in an encoding nobody knows, or another than they say, are remarked', async () => {
    const unknown = open('messages', SSE, 200, 'compress');
    expect(unknown.push(Buffer.from('x'))).toBe(false);
    expect(await finish(unknown)).toEqual({ ...NOTHING_REPORTED, flags: ['undecodable'] });
    const wrong = open('chat-completions', JSON_TYPE, 200, 'gzip');
    wrong.push(Buffer.from(CHAT_JSON));
    expect(await finish(wrong)).toEqual({
      ...NOTHING_REPORTED,
      flags: ['undecodable'],
      shortfall: 'not_decodable',
    });
  });

  test('are not waited for beyond the deadline', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reader = open('messages', SSE, 200, 'gzip');
    const results: ReportedUsage[] = [];
    reader.push(gzipSync(Buffer.from(MESSAGE_STREAM)));
    reader.finish(true, (reported) => results.push(reported));
    // The decoder works on another thread: nothing of it can arrive within this turn.
    vi.advanceTimersByTime(FINISH_STALL_MS);
    vi.useRealTimers();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(results).toEqual([{ ...NOTHING_REPORTED, flags: ['tap_limit'] }]);
  });

  test('without a body are done at once', () => {
    expect(readNow(open('messages', JSON_TYPE, 200, 'gzip'), [])).toEqual({
      ...NOTHING_REPORTED,
      shortfall: 'not_json',
    });
  });
});

describe('an answer whose type says nothing, or something else', () => {
  const events = `: hello\n\ndata: ${CHAT_JSON}\n\ndata: [DONE]\n\n`;
  const read = (type: string | null, text: string, size: number) => {
    const bytes = Buffer.from(text);
    const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    );
    return readNow(open('chat-completions', type), pieces);
  };
  const types = ['text/plain', null, '', 'application/octet-stream', 'text/html', 'text/event-stream', JSON_TYPE, 'x'];

  test.each(types)('%s is read as JSON where it looks like that', (type) => {
    for (const text of [CHAT_JSON, `\ufeff${CHAT_JSON}`, `\n\n  ${CHAT_JSON}`])
      for (const size of [1, 2, 100_000])
        expect([text.slice(0, 3), size, read(type, text, size)]).toEqual([
          text.slice(0, 3),
          size,
          expect.objectContaining({ usage: expect.objectContaining({ reasoning: 2 }), terminal: true, flags: [] }),
        ]);
  });

  test.each(types)('%s is read as events where it looks like that', (type) => {
    for (const text of [events, `\n\n${events}`, `event: x\ndata: ${CHAT_JSON}\n\ndata: [DONE]\n\n`])
      for (const size of [1, 3, 100_000])
        expect([text.slice(0, 3), size, read(type, text, size)]).toEqual([
          text.slice(0, 3),
          size,
          expect.objectContaining({ usage: expect.objectContaining({ reasoning: 2 }), terminal: true, flags: [] }),
        ]);
  });

  test.each(['audio/mpeg', 'image/png', 'video/mp4'])('%s is not read, whatever it looks like', (type) => {
    expect(read(type, CHAT_JSON, 100)).toEqual({ ...NOTHING_REPORTED, flags: ['no_ending'] });
  });

  test('an error as plain text is read, also of an endpoint that is not metered', () => {
    const reader = open('opaque', 'text/plain', 429);
    expect(readNow(reader, [Buffer.from('{"error":{"type":"slow","message":"m"}}')])?.error?.type).toBe('slow');
  });
});

test('other content types and unmetered endpoints are not read', () => {
  const unread = { ...NOTHING_REPORTED, flags: ['no_ending'] };
  expect(readNow(open('responses', 'audio/mpeg'), [Buffer.from(CHAT_JSON)])).toEqual(unread);
  expect(readNow(open('responses', 'text/html'), [Buffer.from('<html>data: {"usage":{}}')])).toEqual(unread);
  expect(readNow(open('opaque', JSON_TYPE), [Buffer.from(CHAT_JSON)])).toEqual(NOTHING_REPORTED);
});
