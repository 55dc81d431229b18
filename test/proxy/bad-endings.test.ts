/**
 * Calls that end badly, as a table: what ends them, at which point of the answer, in which API. The record has the
 * outcome and the usage so far; the client has the bytes that a direct call would have given it, and as little of an
 * ending.
 */
import { connect } from 'node:net';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import type { UsageSource } from '../../src/vocabulary/token-usage.ts';
import { readRawAnswer } from '../support/read-raw-answer.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { type RecordedCall, startProxy } from './start-proxy.ts';

const { provider, proxy } = await openProxy();

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

const event = (type: string, payload: string): Buffer => frame('event', ':event-type', type, payload);
const exception = (type: string, payload: string): Buffer => frame('exception', ':exception-type', type, payload);
const sse = (...data: readonly string[]): Buffer => Buffer.from(data.map((text) => `data: ${text}\n\n`).join(''));

interface Api {
  readonly path: string;
  readonly body: string;
  readonly contentType: string;
}

const SSE = 'text/event-stream; charset=utf-8';
const MESSAGES: Api = { path: '/v1/messages', body: '{"model":"m","stream":true}', contentType: SSE };
const CHAT: Api = {
  path: '/v1/chat/completions',
  body: '{"model":"m","stream":true,"stream_options":{"include_usage":true}}',
  contentType: SSE,
};
const RESPONSES: Api = { path: '/v1/responses', body: '{"model":"m","stream":true}', contentType: SSE };
const GEMINI: Api = { path: '/v1beta/models/m:streamGenerateContent?alt=sse', body: '{}', contentType: SSE };
const ARRAY: Api = { path: '/v1beta/models/m:streamGenerateContent', body: '{}', contentType: 'application/json' };
const CONVERSE: Api = {
  path: '/model/m/converse-stream',
  body: '{}',
  contentType: 'application/vnd.amazon.eventstream',
};

function requestTo(port: number, api: Api, extra: readonly string[]): string {
  const length = `Content-Length: ${api.body.length}`;
  return [`POST ${api.path} HTTP/1.1`, `Host: 127.0.0.1:${port}`, length, ...extra, '', api.body].join('\r\n');
}

const throughProxy = (api: Api): string => requestTo(proxy.port, api, [`X-Gateway-Key: ${proxy.key}`]);

/** The head and so much of a chunked answer, with nothing behind it yet. */
function begun(api: Api, body: Buffer): AnswerStep[] {
  return buildAnswer({ headers: [['Content-Type', api.contentType]], framing: 'chunked', body }).slice(0, -1);
}

interface Usage {
  readonly source: UsageSource;
  readonly classes: object | null;
}

function usageOf({ end }: RecordedCall): Usage {
  const { input, output } = end.usage?.classes ?? {};
  return { source: end.usageSource, classes: end.usage === null ? null : { input, output } };
}

const NONE: Usage = { source: 'none', classes: null };
/** Of output Anthropic's streams tell at their end; what their start says stands in its place. */
const partial = (input: number, output?: number): Usage => ({ source: 'partial', classes: { input, output } });
const whole = (input: number, output: number): Usage => ({ source: 'provider', classes: { input, output } });

const START = sse('{"type":"message_start","message":{"model":"m","usage":{"input_tokens":9,"output_tokens":1}}}');
const TEXT = sse('{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hi"}}');
const DELTA = sse('{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":16}}');
const STOP = sse('{"type":"message_stop"}');
const CHAT_TEXT = sse('{"model":"m","choices":[{"index":0,"delta":{"content":"Hi"}}],"usage":null}');
const CHAT_FINISH = sse('{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}');
const CHAT_USAGE = sse(
  '{"model":"m","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":16,"total_tokens":25}}',
);
const DONE = sse('[DONE]');
const RESPONSE_TEXT = sse('{"type":"response.output_text.delta","delta":"Hi"}');
const RESPONSE_END = sse(
  '{"type":"response.completed","response":{"model":"m","usage":{"input_tokens":9,"output_tokens":16,"total_tokens":25}}}',
);
const PART =
  '{"candidates":[{"content":{"parts":[{"text":"Hi"}]}}],"modelVersion":"m","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":1,"totalTokenCount":10}}';
const LAST_PART =
  '{"candidates":[{"finishReason":"STOP"}],"modelVersion":"m","usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":16,"totalTokenCount":25}}';
const ROLE = event('messageStart', '{"role":"assistant"}');
const MESSAGE_STOP = event('messageStop', '{"stopReason":"end_turn"}');
const METADATA = event('metadata', '{"usage":{"inputTokens":9,"outputTokens":16,"totalTokens":25}}');
const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length >> 1);

/** Where an answer stops, and the usage that was said until then. */
const STAGES: readonly (readonly [string, Api, Buffer, Usage])[] = [
  ['messages: after the head', MESSAGES, Buffer.alloc(0), NONE],
  ['messages: in the middle of the first event', MESSAGES, half(START), NONE],
  ['messages: after the first usage', MESSAGES, START, partial(9)],
  ['messages: in the middle of an event', MESSAGES, Buffer.concat([START, half(TEXT)]), partial(9)],
  ['messages: in the middle of the last usage', MESSAGES, Buffer.concat([START, TEXT, half(DELTA)]), partial(9)],
  ['messages: after the last usage', MESSAGES, Buffer.concat([START, TEXT, DELTA]), whole(9, 16)],
  ['messages: after the terminal event', MESSAGES, Buffer.concat([START, TEXT, DELTA, STOP]), whole(9, 16)],
  ['messages: but for the last byte', MESSAGES, Buffer.concat([START, DELTA, STOP]).subarray(0, -1), whole(9, 16)],
  ['chat: in the middle of an event', CHAT, Buffer.concat([CHAT_TEXT, half(CHAT_TEXT)]), NONE],
  ['chat: after usage', CHAT, Buffer.concat([CHAT_TEXT, CHAT_USAGE]), partial(9, 16)],
  ['chat: after the terminal event', CHAT, Buffer.concat([CHAT_TEXT, CHAT_USAGE, DONE]), whole(9, 16)],
  ['responses: before the terminal event', RESPONSES, RESPONSE_TEXT, NONE],
  ['responses: after the terminal event', RESPONSES, Buffer.concat([RESPONSE_TEXT, RESPONSE_END]), whole(9, 16)],
  ['Gemini: after the first part', GEMINI, sse(PART), partial(9, 1)],
  ['Gemini: after the last part', GEMINI, sse(PART, LAST_PART), whole(9, 16)],
  ['Gemini array: after the first element', ARRAY, Buffer.from(`[${PART},`), partial(9, 1)],
  ['Gemini array: in the second element', ARRAY, Buffer.from(`[${PART},${LAST_PART.slice(0, 60)}`), partial(9, 1)],
  ['Gemini array: before its bracket', ARRAY, Buffer.from(`[${PART},${LAST_PART}`), whole(9, 16)],
  ['Converse: in the prelude of a frame', CONVERSE, Buffer.concat([ROLE, METADATA.subarray(0, 6)]), NONE],
  ['Converse: in the checksum of the last frame', CONVERSE, Buffer.concat([ROLE, METADATA.subarray(0, -2)]), NONE],
  ['Converse: after its usage', CONVERSE, Buffer.concat([ROLE, METADATA]), whole(9, 16)],
];

describe('a provider that resets its connection', () => {
  test.each(STAGES)('%s', async (_, api, body, usage) => {
    // The reset waits a little: it would overtake what was written before.
    provider.setAnswer(() => [...begun(api, body), { waitMs: 25 }, { reset: true }]);
    const direct = await readRawAnswer('127.0.0.1', provider.port, requestTo(provider.port, api, []));
    const through = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(api));
    expect(through.statusLine).toBe(direct.statusLine);
    expect(through.body.equals(direct.body)).toBe(true);
    expect(through.body.equals(body)).toBe(true);
    expect([direct.end === 'complete', through.end === 'complete']).toEqual([false, false]);
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_truncated', status: 200, flags: [] });
    expect(usageOf(call)).toEqual(usage);
  });

  test('before the head: the client gets an error of the gateway, not a broken connection', async () => {
    provider.setAnswer(() => [{ reset: true }]);
    const answer = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(MESSAGES));
    expect(answer).toMatchObject({ status: 502, end: 'complete' });
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_unreachable', status: 502, flags: [] });
    expect(usageOf(call)).toEqual(NONE);
  });

  test.each([
    ['after its usage', '{"usage":{"input_tokens":9,"output_tokens":16},"content":[{"te', partial(9, 16)],
    ['before its usage', '{"content":[{"type":"text","te', NONE],
    ['at its last byte', '{"usage":{"input_tokens":9,"output_tokens":16}', partial(9, 16)],
  ])('in a JSON body of declared length, %s', async (_, body, usage) => {
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 1}\r\n\r\n`;
    provider.setAnswer(() => [{ write: head + body }, { waitMs: 25 }, { reset: true }]);
    const answer = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(MESSAGES));
    expect(answer.body.toString()).toBe(body);
    expect(answer.end).not.toBe('complete');
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_truncated', status: 200, flags: [] });
    expect(usageOf(call)).toEqual(usage);
  });
});

/** Sends a request and leaves when so many bytes of the body, framed as they are, have come. */
function leaveAfter(api: Api, bodyBytes: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(proxy.port, '127.0.0.1');
    let seen: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      seen = Buffer.concat([seen, bytes]);
      const head = seen.indexOf('\r\n\r\n');
      if (head !== -1 && seen.length - head - 4 >= bodyBytes) socket.destroy();
    });
    socket.on('close', () => resolve());
    socket.write(throughProxy(api));
  });
}

describe('a client that leaves', () => {
  test.each(STAGES)(
    '%s: the provider’s connection is closed, what was said so far is kept',
    async (_, api, body, usage) => {
      provider.setAnswer(() => [...begun(api, body), { waitMs: 30_000 }]);
      const index = provider.requests.length;
      await leaveAfter(api, body.length);
      await (await provider.waitForRequest(index)).closed;
      const call = await proxy.lastCall();
      // Usage is final with the last event or the finish reason, and then the client had all of its answer.
      const served = { outcome: 'ok', status: 200, flags: [] };
      const left = {
        outcome: 'client_closed',
        status: 200,
        flags: [],
        closedBefore: body.length === 0 ? 'first_byte' : 'end',
      };
      expect(call.end).toMatchObject(usage.source === 'provider' ? served : left);
      expect(usageOf(call)).toEqual(usage);
    },
  );
});

const OPENAI_ERROR = sse('{"error":{"message":"no","type":"server_error","param":null,"code":null}}');
const FAILED = sse(
  '{"type":"response.failed","response":{"model":"m","error":{"code":"server_error","message":"no"},"usage":{"input_tokens":9,"output_tokens":1,"total_tokens":10}}}',
);
const CHUNK_ERROR = exception('throttlingException', '{"message":"no"}');

describe('an answer that began well and tells of an error', () => {
  test.each<[string, Api, Buffer, string, Usage]>([
    [
      'messages: an error event, and no ending',
      MESSAGES,
      Buffer.concat([START, sse('{"type":"error","error":{"type":"overloaded_error","message":"no"}}')]),
      'overloaded_error',
      partial(9),
    ],
    [
      'messages: an error event as the first one',
      MESSAGES,
      sse('{"type":"error","error":{"type":"overloaded_error","message":"no"}}'),
      'overloaded_error',
      NONE,
    ],
    ['chat: an error in place of a chunk', CHAT, Buffer.concat([CHAT_TEXT, OPENAI_ERROR]), 'server_error', NONE],
    ['responses: a failed response', RESPONSES, Buffer.concat([RESPONSE_TEXT, FAILED]), 'server_error', whole(9, 1)],
    [
      'Gemini: an error in place of a part',
      GEMINI,
      sse(PART, '{"error":{"code":503,"message":"no","status":"UNAVAILABLE"}}'),
      'UNAVAILABLE',
      partial(9, 1),
    ],
    ['Converse: an exception frame', CONVERSE, Buffer.concat([ROLE, CHUNK_ERROR]), 'throttlingException', NONE],
    [
      'Converse: an error frame',
      CONVERSE,
      Buffer.concat([ROLE, frame('error', ':error-code', 'InternalFailure', '')]),
      'InternalFailure',
      NONE,
    ],
  ])('%s', async (_, api, body, errorType, usage) => {
    provider.setAnswer(() => buildAnswer({ headers: [['Content-Type', api.contentType]], framing: 'chunked', body }));
    const answer = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(api));
    expect(answer.end).toBe('complete');
    expect(answer.body.equals(body)).toBe(true);
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_stream_error', status: 200, errorType, flags: [] });
    expect(usageOf(call)).toEqual(usage);
  });
});

describe('an answer that ends well and yet not as usual', () => {
  test.each<[string, Api, Buffer, Usage]>([
    ['messages that lack only their `message_stop`', MESSAGES, Buffer.concat([START, TEXT, DELTA]), whole(9, 16)],
    ['chat that lacks only its `[DONE]`', CHAT, Buffer.concat([CHAT_TEXT, CHAT_FINISH, CHAT_USAGE]), whole(9, 16)],
    [
      'a refusal in messages',
      MESSAGES,
      Buffer.concat([
        START,
        sse('{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{"output_tokens":2}}'),
        STOP,
      ]),
      whole(9, 2),
    ],
    [
      'a prompt that Gemini blocks',
      GEMINI,
      sse(
        '{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":0,"totalTokenCount":9}}',
      ),
      whole(9, 0),
    ],
    [
      'a chat answer that a filter ends',
      CHAT,
      Buffer.concat([
        sse('{"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}'),
        CHAT_USAGE,
        DONE,
      ]),
      whole(9, 16),
    ],
  ])('%s', async (_, api, body, usage) => {
    provider.setAnswer(() => buildAnswer({ headers: [['Content-Type', api.contentType]], framing: 'chunked', body }));
    const answer = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(api));
    expect(answer.end).toBe('complete');
    expect(answer.body.equals(body)).toBe(true);
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'ok', status: 200, errorType: null, flags: [] });
    expect(usageOf(call)).toEqual(usage);
  });
});

const JSON_API: Api = { ...MESSAGES, body: '{"model":"m"}', contentType: 'application/json' };

describe('an answer that HTTP ends well and that stops before its own end', () => {
  test.each<[string, Api, Buffer, Usage, string]>([
    ['messages after their first words', MESSAGES, Buffer.concat([START, TEXT]), partial(9), 'upstream_ended_early'],
    ['messages in their last usage', MESSAGES, Buffer.concat([START, half(DELTA)]), partial(9), 'upstream_ended_early'],
    ['chat after its first words', CHAT, CHAT_TEXT, NONE, 'upstream_ended_early'],
    ['Gemini after its first part', GEMINI, sse(PART), partial(9, 1), 'upstream_ended_early'],
    ['a Gemini array that is not closed', ARRAY, Buffer.from(`[${PART},`), partial(9, 1), 'upstream_ended_early'],
    ['a response that was not completed', RESPONSES, RESPONSE_TEXT, NONE, 'upstream_ended_early'],
    ['Converse without its usage', CONVERSE, ROLE, NONE, 'upstream_ended_early'],
    ['Converse at its stop', CONVERSE, Buffer.concat([ROLE, MESSAGE_STOP]), NONE, 'upstream_ended_early'],
    [
      'Converse in its last frame',
      CONVERSE,
      Buffer.concat([ROLE, METADATA.subarray(0, -5)]),
      NONE,
      'upstream_ended_early',
    ],
    ['Converse in a prelude', CONVERSE, Buffer.concat([ROLE, METADATA.subarray(0, 6)]), NONE, 'upstream_ended_early'],
    ['an empty stream', MESSAGES, Buffer.alloc(0), NONE, 'upstream_ended_early'],
    ['nothing but comments', CHAT, Buffer.from(': keep-alive\n\n: keep-alive\n\n'), NONE, 'upstream_ended_early'],
    ['JSON of which nothing came', JSON_API, Buffer.alloc(0), NONE, 'upstream_not_json'],
    ['JSON that is blank lines', JSON_API, Buffer.from('\n\n\n'), NONE, 'upstream_not_json'],
    ['JSON that is a page', JSON_API, Buffer.from('<html>Bad gateway</html>'), NONE, 'upstream_not_json'],
    [
      'JSON that stops behind its usage',
      JSON_API,
      Buffer.from('{"usage":{"input_tokens":9,"output_tokens":16},"content":[{'),
      partial(9, 16),
      'upstream_not_json',
    ],
  ])('%s: its client gets it as it came, and the record says it', async (_, api, body, usage, errorType) => {
    provider.setAnswer(() => buildAnswer({ headers: [['Content-Type', api.contentType]], framing: 'chunked', body }));
    const answer = await readRawAnswer('127.0.0.1', proxy.port, throughProxy(api));
    expect(answer.end).toBe('complete');
    expect(answer.body.equals(body)).toBe(true);
    const call = await proxy.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_truncated', status: 200, errorType });
    expect(usageOf(call)).toEqual(usage);
  });
});

test('a provider that is silent for too long: a 504 before its head, a cut and the usage so far after it', async () => {
  const limits = { ...DEFAULT_LIMITS, headersTimeoutMs: 200, idleTimeoutMs: 200, sweepIntervalMs: 20 };
  const impatient = await startProxy(provider.origin, {}, {}, limits);
  try {
    const request = requestTo(impatient.port, MESSAGES, [`X-Gateway-Key: ${impatient.key}`]);
    provider.setAnswer(() => [{ waitMs: 30_000 }]);
    const late = await readRawAnswer('127.0.0.1', impatient.port, request);
    expect(late).toMatchObject({ status: 504, end: 'complete' });
    const silent = await impatient.lastCall();
    expect(silent.end).toMatchObject({ outcome: 'upstream_unreachable', status: 504, errorType: 'upstream_timeout' });

    provider.setAnswer(() => [...begun(MESSAGES, START), { waitMs: 30_000 }]);
    const cut = await readRawAnswer('127.0.0.1', impatient.port, request);
    expect(cut.body.equals(START)).toBe(true);
    expect(cut.end).not.toBe('complete');
    const call = await impatient.lastCall();
    expect(call.end).toMatchObject({ outcome: 'upstream_truncated', status: 200, errorType: 'upstream_timeout' });
    expect(usageOf(call)).toEqual(partial(9));
  } finally {
    await impatient.close();
  }
});
