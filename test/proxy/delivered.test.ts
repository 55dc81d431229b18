/**
 * Clients that go once they have what they wanted: at the last event of a stream, or at its finish reason. Their calls
 * went well; what the provider still sends is read, and its connection is kept.
 */
import { connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient, ConverseStreamCommand } from '@aws-sdk/client-bedrock-runtime';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import OpenAI from 'openai';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/proxy/upstream/upstream-limits.ts';
import { startScriptedProvider } from '../support/fake-provider.ts';
import { type AnswerStep, buildAnswer } from '../support/scripted-answer.ts';
import { openProxy } from './open-proxy.ts';
import { readHttp2Answer } from './read-http2-answer.ts';
import { type InProcessProxy, startProxy } from './start-proxy.ts';

const { provider, proxy } = await openProxy();

interface Api {
  readonly path: string;
  readonly body: string;
  readonly contentType: string;
}

const SSE = 'text/event-stream';
const FRAMES = 'application/vnd.amazon.eventstream';
const CHAT: Api = { path: '/v1/chat/completions', body: '{"model":"m","stream":true}', contentType: SSE };
const TOLD_CHAT: Api = { ...CHAT, body: '{"model":"m","stream":true,"stream_options":{"include_usage":true}}' };
const MESSAGES: Api = { path: '/v1/messages', body: '{"model":"m","stream":true}', contentType: SSE };
const RESPONSES: Api = { path: '/v1/responses', body: '{"model":"m","stream":true}', contentType: SSE };
const GEMINI: Api = { path: '/v1beta/models/m:streamGenerateContent?alt=sse', body: '{}', contentType: SSE };
const CONVERSE: Api = { path: '/model/m/converse-stream', body: '{}', contentType: FRAMES };
const INVOKE: Api = { path: '/model/m/invoke-with-response-stream', body: '{}', contentType: FRAMES };

const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text),
);

function frame(type: string, payload: object): Buffer {
  const headers = {
    ':message-type': { type: 'string' as const, value: 'event' },
    ':event-type': { type: 'string' as const, value: type },
  };
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(payload)) }));
}

const chunk = (event: object): Buffer =>
  frame('chunk', { bytes: Buffer.from(JSON.stringify(event)).toString('base64') });
const sse = (...events: readonly object[]): Buffer =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));

/** As Anthropic's library wants them: with the type in a line of its own. */
const sseNamed = (...events: readonly { readonly type: string }[]): Buffer =>
  Buffer.from(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''));

const WORDS = { model: 'm', choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: null }], usage: null };
const FINISH = { model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null };
const USAGE = {
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 9, completion_tokens: 16, total_tokens: 25 },
};
const DONE = Buffer.from('data: [DONE]\n\n');
const START = { type: 'message_start', message: { model: 'm', usage: { input_tokens: 9, output_tokens: 1 } } };
const STOP_REASON = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 16 } };
const PART = {
  candidates: [{ finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 16, totalTokenCount: 25 },
};
const COMPLETED = {
  type: 'response.completed',
  response: { model: 'm', usage: { input_tokens: 9, output_tokens: 16, total_tokens: 25 } },
};
const METRICS = { 'amazon-bedrock-invocationMetrics': { inputTokenCount: 9, outputTokenCount: 16 } };
const TOKENS = { inputTokens: 9, outputTokens: 16, totalTokens: 25 };

/** An answer in two parts, `pauseMs` apart; what ends it comes with the second, or with the step given. */
function inTwo(api: Api, first: Buffer, rest: Buffer, pauseMs: number, encoding?: 'gzip'): AnswerStep[] {
  const body = Buffer.concat([first, rest]);
  if (encoding !== undefined)
    return buildAnswer({ headers: [['Content-Type', api.contentType]], framing: 'chunked', body, encoding });
  const [head, ...steps] = buildAnswer({
    headers: [['Content-Type', api.contentType]],
    framing: 'chunked',
    body,
    cuts: [first.length],
  });
  const [begin, ...end] = steps;
  return [head, begin].flatMap((step) => step ?? []).concat({ waitMs: pauseMs }, end);
}

function requestTo({ path, body }: Api, key: string): string {
  return [
    `POST ${path} HTTP/1.1`,
    'Host: gateway',
    `X-Gateway-Key: ${key}`,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
}

/** Closes its connection as soon as `mark` is among what came. */
function leaveAt(api: Api, mark: string | Buffer, { port, key }: InProcessProxy = proxy): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let seen: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      seen = Buffer.concat([seen, bytes]);
      if (seen.includes(mark)) socket.destroy();
    });
    socket.on('end', () => reject(new Error(`the answer ended before its client could leave: ${seen.toString()}`)));
    socket.on('close', () => resolve());
    socket.write(requestTo(api, key));
  });
}

describe('a client that goes at the last event', () => {
  test('of thirty streams, one after the other, was served well thirty times, over one connection to the provider', async () => {
    const own = await startScriptedProvider();
    const gateway = await startProxy(own.origin);
    try {
      own.setAnswer(() => inTwo(TOLD_CHAT, Buffer.concat([sse(WORDS, FINISH, USAGE), DONE]), Buffer.alloc(0), 3));
      for (let call = 0; call < 30; call += 1) {
        await leaveAt(TOLD_CHAT, '[DONE]', gateway);
        await gateway.lastCall();
      }
      const ends = (await gateway.entries()).flatMap((entry) => (entry.type === 'end' ? [entry.end] : []));
      expect(ends.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 30 }, () => 'ok'));
      expect(new Set(ends.map(({ usageSource }) => usageSource))).toEqual(new Set(['provider']));
      expect(own.connectionCount()).toBe(1);
    } finally {
      await gateway.close();
      await own.close();
    }
  });

  test('and is back with its next call before the first has ended shares its connection', async () => {
    const own = await startScriptedProvider();
    const gateway = await startProxy(own.origin, {}, {}, { ...DEFAULT_LIMITS, waitForIdleMs: 10_000 });
    try {
      own.setAnswer(() => inTwo(TOLD_CHAT, Buffer.concat([sse(WORDS, FINISH, USAGE), DONE]), Buffer.alloc(0), 3));
      for (let call = 0; call < 30; call += 1) await leaveAt(TOLD_CHAT, '[DONE]', gateway);
      expect(own.connectionCount()).toBe(1);
    } finally {
      await gateway.close();
      await own.close();
    }
  });

  test('of a provider that does not end is not waited for by the next call, but for a moment', async () => {
    const own = await startScriptedProvider();
    const gateway = await startProxy(own.origin, {}, {}, { ...DEFAULT_LIMITS, waitForIdleMs: 20 });
    try {
      own.setAnswer((_, index) =>
        inTwo(TOLD_CHAT, Buffer.concat([sse(WORDS, FINISH, USAGE), DONE]), DONE, index === 0 ? 30_000 : 0),
      );
      await leaveAt(TOLD_CHAT, '[DONE]', gateway);
      await leaveAt(TOLD_CHAT, '[DONE]', gateway);
      expect(own.connectionCount()).toBe(2);
    } finally {
      await gateway.close();
      await own.close();
    }
  });

  test.each<[string, Api, Buffer, string]>([
    ['Anthropic', MESSAGES, sse(START, STOP_REASON, { type: 'message_stop' }), 'message_stop'],
    ['Responses', RESPONSES, sse(COMPLETED), 'response.completed'],
    ['Gemini', GEMINI, sse(PART), 'finishReason'],
    ['Converse', CONVERSE, Buffer.concat([frame('messageStop', {}), frame('metadata', { usage: TOKENS })]), 'metadata'],
    ['chat whose usage is hidden from it', CHAT, Buffer.concat([sse(FINISH, USAGE), DONE]), '[DONE]'],
  ])('of %s was served well, and the connection is kept', async (_, api, body, mark) => {
    const before = provider.connectionCount();
    provider.setAnswer(() => inTwo(api, body, Buffer.from(api.contentType === SSE ? ': end\n\n' : ''), 30));
    await leaveAt(api, mark);
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({ outcome: 'ok', status: 200, usageSource: 'provider', errorType: null });
    expect(end.usage?.classes).toMatchObject({ input: 9, output: 16 });
    await leaveAt(api, mark);
    await proxy.lastCall();
    expect(provider.connectionCount() - before).toBeLessThanOrEqual(1);
  });

  test('of a provider that never ends is not waited for longer than a second, and was served well', async () => {
    provider.setAnswer(() => inTwo(MESSAGES, sse(START, STOP_REASON, { type: 'message_stop' }), DONE, 30_000));
    const index = provider.requests.length;
    const startedMs = performance.now();
    await leaveAt(MESSAGES, 'message_stop');
    await (await provider.waitForRequest(index)).closed;
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
    // The second in which the provider was waited for is none of the call's, however slow this machine is.
    expect(performance.now() - startedMs - end.durationMs).toBeGreaterThan(990);
  });

  test('of a provider that goes on and on is cut after some KiB', async () => {
    // More than the buffers of both connections take before the gateway sees that the client has gone.
    const more = Buffer.from(`: ${'x'.repeat(30_000_000)}\n\n`);
    provider.setAnswer(() => [
      ...inTwo(MESSAGES, sse(START, STOP_REASON, { type: 'message_stop' }), more, 20).slice(0, -1),
      { waitMs: 30_000 },
    ]);
    const index = provider.requests.length;
    await leaveAt(MESSAGES, 'message_stop');
    await (await provider.waitForRequest(index)).closed;
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
    expect(end.responseBytes).toBeLessThan(30_000_000);
  });

  test('of a compressed stream was served well, too', async () => {
    const body = Buffer.concat([sse(WORDS, FINISH, USAGE), DONE]);
    provider.setAnswer(() => {
      const steps = inTwo(TOLD_CHAT, body, Buffer.alloc(0), 0, 'gzip');
      return [...steps.slice(0, -1), { waitMs: 40 }, ...steps.slice(-1)];
    });
    // The mark of gzip, at the front of the one write that has it all.
    await leaveAt(TOLD_CHAT, Buffer.from([0x1f, 0x8b]));
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
  });

  test('of a stream of HTTP/2 was served well, and the connection is kept', async () => {
    const before = provider.connectionCount();
    const body = Buffer.concat([sse(WORDS, FINISH, USAGE), DONE]);
    provider.setAnswer(() => inTwo(TOLD_CHAT, body, Buffer.from(': end\n\n'), 30));
    const session = connectHttp2(proxy.base);
    try {
      for (let call = 0; call < 3; call += 1) {
        const answer = await readHttp2Answer(session, {
          method: 'POST',
          path: TOLD_CHAT.path,
          body: TOLD_CHAT.body,
          headers: ['x-gateway-key', proxy.key],
          onBody: (bytes, stream) => (bytes >= body.length ? stream.close(constants.NGHTTP2_CANCEL) : undefined),
        });
        expect(answer.body.toString()).toContain('[DONE]');
        expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
      }
      expect(provider.connectionCount() - before).toBeLessThanOrEqual(1);
    } finally {
      session.destroy();
    }
  });

  test('is served as well where answers are read on for longer', async () => {
    const draining = await startProxy(provider.origin, { onClientAbort: 'drain' });
    try {
      provider.setAnswer(() => inTwo(TOLD_CHAT, sse(WORDS, FINISH), Buffer.concat([sse(USAGE), DONE]), 30));
      await leaveAt(TOLD_CHAT, '"stop"', draining);
      expect((await draining.lastCall()).end).toMatchObject({ outcome: 'ok', usageSource: 'provider' });
    } finally {
      await draining.close();
    }
  });
});

describe('a client that goes at the finish reason', () => {
  test.each<[string, Api, Buffer, Buffer, string]>([
    ['chat that asked for usage', TOLD_CHAT, sse(WORDS, FINISH), Buffer.concat([sse(USAGE), DONE]), '"stop"'],
    ['chat that did not', CHAT, sse(WORDS, FINISH), Buffer.concat([sse(USAGE), DONE]), '"stop"'],
    ['Anthropic', MESSAGES, sse(START, STOP_REASON), sse({ type: 'message_stop' }), 'stop_reason'],
    [
      'Converse',
      CONVERSE,
      frame('messageStop', { stopReason: 'end_turn' }),
      frame('metadata', { usage: TOKENS }),
      'messageStop',
    ],
    [
      'Nova, invoked',
      INVOKE,
      chunk({ messageStop: { stopReason: 'end_turn' } }),
      chunk({ metadata: { usage: TOKENS }, ...METRICS }),
      ':event-type',
    ],
  ])('of %s has its usage, final', async (_, api, first, rest, mark) => {
    provider.setAnswer(() => inTwo(api, first, rest, 30));
    await leaveAt(api, mark);
    const { end } = await proxy.lastCall();
    expect(end).toMatchObject({ outcome: 'ok', status: 200, usageSource: 'provider', flags: expect.any(Array) });
    expect(end.usage?.classes).toMatchObject({ input: 9, output: 16 });
    expect(end).not.toHaveProperty('closedBefore');
  });

  test('has its answer, though no usage comes within a second', async () => {
    provider.setAnswer(() => inTwo(TOLD_CHAT, sse(WORDS, FINISH), sse(USAGE), 30_000));
    const index = provider.requests.length;
    await leaveAt(TOLD_CHAT, '"stop"');
    await (await provider.waitForRequest(index)).closed;
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'ok', usageSource: 'none' });
  });

  test('of one of two choices has not all of it', async () => {
    const other = { ...WORDS, choices: [{ index: 1, delta: { content: 'Ho' }, finish_reason: null }] };
    provider.setAnswer(() => inTwo(TOLD_CHAT, sse(WORDS, other, FINISH), sse(USAGE), 30_000));
    await leaveAt(TOLD_CHAT, '"stop"');
    expect((await proxy.lastCall()).end).toMatchObject({ outcome: 'client_closed', closedBefore: 'end' });
  });
});

describe('a client that gives up', () => {
  test('before the head, before the first byte, or before the end is told apart', async () => {
    provider.setAnswer(() => [{ waitMs: 30_000 }]);
    const index = provider.requests.length;
    const early = connect(proxy.port, '127.0.0.1');
    early.write(requestTo(MESSAGES, proxy.key));
    await provider.waitForRequest(index);
    early.destroy();
    expect((await proxy.lastCall()).end).toMatchObject({
      outcome: 'client_closed',
      status: null,
      closedBefore: 'head',
    });

    const [head] = buildAnswer({ headers: [['Content-Type', SSE]], framing: 'chunked', body: '' });
    provider.setAnswer(() => [head, { waitMs: 30_000 }].flatMap((step) => step ?? []));
    await leaveAt(MESSAGES, '\r\n\r\n');
    expect((await proxy.lastCall()).end).toMatchObject({
      outcome: 'client_closed',
      status: 200,
      closedBefore: 'first_byte',
    });

    provider.setAnswer(() => inTwo(MESSAGES, sse(START), sse(STOP_REASON), 30_000));
    await leaveAt(MESSAGES, 'message_start');
    expect((await proxy.lastCall()).end).toMatchObject({
      outcome: 'client_closed',
      status: 200,
      closedBefore: 'end',
      usageSource: 'partial',
    });
  });
});

describe('a program with the provider’s own library that stops reading', () => {
  const options = () => ({ apiKey: 'placeholder', maxRetries: 0, defaultHeaders: { 'X-Gateway-Key': proxy.key } });

  test('at the finish reason of OpenAI’s: ten of ten have their cost', async () => {
    const client = new OpenAI({ ...options(), baseURL: `${proxy.base}/v1` });
    provider.setAnswer(() => inTwo(CHAT, sse(WORDS, FINISH), Buffer.concat([sse(USAGE), DONE]), 20));
    for (let call = 0; call < 10; call += 1) {
      const stream = await client.chat.completions.create({
        model: 'm',
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      for await (const part of stream) if (part.choices[0]?.finish_reason != null) break;
      const { end } = await proxy.lastCall();
      expect(end).toMatchObject({ outcome: 'ok', usageSource: 'provider', usage: { classes: { output: 16 } } });
    }
  });

  test('at the stop reason of Anthropic’s: ten of ten have their cost', async () => {
    const client = new Anthropic({ ...options(), baseURL: proxy.base });
    provider.setAnswer(() => inTwo(MESSAGES, sseNamed(START, STOP_REASON), sseNamed({ type: 'message_stop' }), 20));
    for (let call = 0; call < 10; call += 1) {
      const stream = await client.messages.create({
        model: 'm',
        max_tokens: 9,
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      });
      for await (const event of stream) if (event.type === 'message_delta') break;
      const { end } = await proxy.lastCall();
      expect(end).toMatchObject({ outcome: 'ok', usageSource: 'provider', usage: { classes: { output: 16 } } });
    }
  });

  test('at the `messageStop` of Bedrock’s: ten of ten have their cost', async () => {
    const client = new BedrockRuntimeClient({
      region: 'us-east-1',
      endpoint: proxy.base,
      maxAttempts: 1,
      token: { token: 'placeholder' },
      authSchemePreference: ['httpBearerAuth'],
    });
    client.middlewareStack.add(
      (next) => (args) => {
        const { request } = args;
        if (typeof request === 'object' && request !== null && 'headers' in request)
          Object.assign(Object(request.headers), { 'X-Gateway-Key': proxy.key });
        return next(args);
      },
      { step: 'build' },
    );
    const stop = frame('messageStop', { stopReason: 'end_turn' });
    provider.setAnswer(() => inTwo(CONVERSE, stop, frame('metadata', { usage: TOKENS }), 20));
    try {
      for (let call = 0; call < 10; call += 1) {
        const gone = new AbortController();
        const { stream } = await client.send(
          new ConverseStreamCommand({ modelId: 'm', messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }),
          { abortSignal: gone.signal },
        );
        for await (const event of stream ?? []) if (event.messageStop !== undefined) break;
        gone.abort();
        const { end } = await proxy.lastCall();
        expect(end).toMatchObject({ outcome: 'ok', usageSource: 'provider', usage: { classes: { output: 16 } } });
      }
    } finally {
      client.destroy();
    }
  });
});
