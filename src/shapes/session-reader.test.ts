/** Sessions message by message: the usage of their turns, added up to exact classes. */
import { describe, expect, test } from 'vitest';
import type { JsonValue } from '../token-usage.ts';
import { sumNative } from './add-turn.ts';
import type { SessionName } from './session.ts';
import { createSessionReader, type SessionReader } from './session-reader.ts';

function read(name: SessionName, messages: readonly JsonValue[], client: readonly JsonValue[] = []): SessionReader {
  const reader = createSessionReader(name);
  for (const message of client) reader.pushClient(Buffer.from(JSON.stringify(message)));
  for (const message of messages) reader.pushServer(Buffer.from(JSON.stringify(message)));
  reader.finish();
  return reader;
}

function realtimeDone(usage: JsonValue, more: Record<string, JsonValue> = {}): JsonValue {
  return { type: 'response.done', event_id: 'e', response: { id: 'r', status: 'completed', usage, ...more } };
}

describe('a realtime session', () => {
  const CREATED = {
    type: 'session.created',
    session: { model: 'gpt-realtime-2', audio: { input: { transcription: { model: 'gpt-4o-mini-transcribe' } } } },
  };
  const FIRST = {
    total_tokens: 253,
    input_tokens: 132,
    output_tokens: 121,
    input_token_details: {
      text_tokens: 112,
      audio_tokens: 13,
      image_tokens: 7,
      cached_tokens: 70,
      cached_tokens_details: { text_tokens: 64, audio_tokens: 4, image_tokens: 2 },
    },
    output_token_details: { text_tokens: 30, audio_tokens: 91 },
  };

  test('adds its turns up, taken apart by modality and cache', () => {
    const { reading } = read('realtime', [CREATED, realtimeDone(FIRST), realtimeDone(FIRST), realtimeDone(FIRST)]);
    expect(reading.model).toBe('gpt-realtime-2');
    expect(reading.usage?.classes).toEqual({
      input: 3 * 48,
      input_audio: 3 * 9,
      input_image: 3 * 5,
      cache_read: 3 * 64,
      cache_read_audio: 3 * 4,
      cache_read_image: 3 * 2,
      output: 3 * 30,
      output_audio: 3 * 91,
    });
    expect(reading.usage?.native).toMatchObject({ total_tokens: 759, output_token_details: { audio_tokens: 273 } });
    expect(reading.flags).toEqual([]);
    expect(reading.terminal).toBe(true);
  });

  test('has its transcripts apart, at their own model, in tokens or by duration', () => {
    const transcript = (usage: JsonValue): JsonValue => ({
      type: 'conversation.item.input_audio_transcription.completed',
      transcript: 'hello',
      usage,
    });
    const tokens = {
      type: 'tokens',
      total_tokens: 40,
      input_tokens: 30,
      output_tokens: 10,
      input_token_details: { audio_tokens: 25, text_tokens: 5 },
    };
    const { reading } = read('realtime', [CREATED, transcript(tokens), realtimeDone(FIRST), transcript(tokens)]);
    expect(reading.usage?.classes.output_audio).toBe(91);
    expect(reading.usage?.others).toEqual([
      {
        purpose: 'transcription',
        model: 'gpt-4o-mini-transcribe',
        classes: { input: 10, input_audio: 50, output: 20 },
      },
    ]);
    const timed = read('realtime', [CREATED, transcript({ type: 'duration', seconds: 2.5 })]);
    expect(timed.reading.usage?.others?.[0]?.classes).toEqual({ input_audio_ms: 2500 });
  });

  test('that only transcribes is of the transcripts’ model', () => {
    const { reading } = read('realtime', [
      {
        type: 'session.created',
        session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } },
      },
      { type: 'conversation.item.input_audio_transcription.completed', usage: { type: 'duration', seconds: 3 } },
    ]);
    expect(reading.model).toBe('whisper-1');
    expect(reading.usage?.classes).toEqual({ input_audio_ms: 3000 });
  });

  test('tells errors, and a turn that was not over', () => {
    const { reading } = read('realtime', [
      CREATED,
      { type: 'error', error: { type: 'invalid_request_error', message: 'no such item' } },
      { type: 'response.created', response: {} },
    ]);
    expect(reading.error).toEqual({ type: 'invalid_request_error', message: 'no such item' });
    expect(reading.terminal).toBe(false);
    const failed = read('realtime', [
      realtimeDone(null, {
        status: 'failed',
        status_details: { type: 'failed', error: { type: 'server_error', code: 'x' } },
      }),
    ]);
    expect(failed.reading.error?.type).toBe('server_error');
    expect(failed.reading.usage).toBeNull();
  });
});

describe('responses over a websocket', () => {
  function completed(input: number, model = 'gpt-6-luna', cached = 0): JsonValue {
    const usage = {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 4 },
      total_tokens: input + 10,
    };
    return { type: 'response.completed', response: { id: 'r', model, service_tier: 'default', usage } };
  }

  test('are added up; the client names the model', () => {
    const { reading, modelRequested } = read(
      'responses-session',
      [{ type: 'response.created', response: {} }, completed(100), completed(200, 'gpt-6-luna', 50)],
      [{ type: 'response.create', model: 'gpt-6-luna', input: 'hi' }],
    );
    expect(modelRequested).toBe('gpt-6-luna');
    expect(reading).toMatchObject({ model: 'gpt-6-luna', serviceTier: 'default', terminal: true });
    expect(reading.usage).toMatchObject({ classes: { input: 250, cache_read: 50, output: 20 }, reasoning: 8 });
    expect(reading.usage?.others).toBeUndefined();
  });

  test('of another model than the first stand apart', () => {
    const { reading } = read('responses-session', [
      completed(100),
      completed(7, 'gpt-6-astra'),
      completed(5, 'gpt-6-astra'),
    ]);
    expect(reading.usage?.classes).toEqual({ input: 100, cache_read: 0, output: 10 });
    expect(reading.usage?.others).toEqual([
      { purpose: 'turns', model: 'gpt-6-astra', classes: { input: 12, cache_read: 0, output: 20 } },
    ]);
  });

  test('are not summed to a prompt so long that it would be rated as one long prompt', () => {
    const { reading } = read('responses-session', [
      completed(150_000),
      completed(150_000),
      completed(300_000),
      completed(20_000),
    ]);
    expect(reading.usage?.classes.input).toBe(170_000);
    expect(reading.usage?.others?.map(({ model, classes }) => [model, classes.input])).toEqual([
      [null, 150_000],
      [null, 300_000],
    ]);
  });
});

describe('a live session', () => {
  test('reports the sound’s duration as a running total, and delegated work apart', () => {
    const { reading } = read('live-session', [
      { type: 'session.started', session: { model: 'gpt-live-1' } },
      { type: 'session.usage.updated', usage: { seconds: 4.25 } },
      {
        type: 'response.event',
        event: {
          type: 'response.completed',
          response: { model: 'gpt-6-luna', usage: { input_tokens: 5, output_tokens: 6, total_tokens: 11 } },
        },
      },
      { type: 'session.usage.updated', usage: { seconds: 9.5 } },
      { type: 'session.closed', reason: 'close_requested', usage: { seconds: 10 } },
    ]);
    expect(reading.model).toBe('gpt-live-1');
    expect(reading.usage).toEqual({
      classes: { input_audio_ms: 10_000 },
      reasoning: null,
      others: [{ purpose: 'delegation', model: 'gpt-6-luna', classes: { input: 5, output: 6 } }],
      native: { seconds: 10, delegation: { input_tokens: 5, output_tokens: 6, total_tokens: 11 } },
    });
  });
});

describe('a session of BidiGenerateContent', () => {
  function usage(prompt: number, response: number, thoughts = 0): JsonValue {
    return {
      promptTokenCount: prompt,
      responseTokenCount: response,
      ...(thoughts > 0 ? { thoughtsTokenCount: thoughts } : {}),
      totalTokenCount: prompt + response + thoughts,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 100 },
        { modality: 'AUDIO', tokenCount: prompt - 100 },
      ],
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: response }],
    };
  }

  test('adds its turns up, each with the whole conversation as its prompt', () => {
    const { reading, modelRequested } = read(
      'bidi-generate-content',
      [
        { setupComplete: {} },
        { serverContent: { modelTurn: { parts: [{ inlineData: { data: 'AAAA' } }] } } },
        { serverContent: { turnComplete: true }, usageMetadata: usage(143, 19) },
        { serverContent: { turnComplete: true }, usageMetadata: usage(181, 24, 8) },
      ],
      [{ setup: { model: 'models/gemini-3.8-live' } }],
    );
    expect(modelRequested).toBe('gemini-3.8-live');
    expect(reading.usage).toMatchObject({
      classes: { input: 200, input_audio: 124, output: 8, output_audio: 43 },
      reasoning: 8,
      native: { promptTokenCount: 324, promptTokensDetails: [{ tokenCount: 200 }, { tokenCount: 124 }] },
    });
    expect(reading.flags).toEqual([]);
    expect(reading.terminal).toBe(true);
  });

  test('takes the latest of the running totals of one turn, and two generations of a turn both', () => {
    const { reading } = read('bidi-generate-content', [
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 5) },
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 9) },
      { toolCall: { functionCalls: [] } },
      { serverContent: { turnComplete: true }, usageMetadata: usage(170, 3) },
    ]);
    expect(reading.usage?.classes).toEqual({ input: 200, input_audio: 113, output: 0, output_audio: 12 });
  });

  test('keeps the running total of a turn that was cut', () => {
    const { reading } = read('bidi-generate-content', [
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 5) },
      { serverContent: { modelTurn: { parts: [] } } },
    ]);
    expect(reading.usage?.classes.output_audio).toBe(5);
    expect(reading.terminal).toBe(false);
  });
});

test.each<SessionName>(['realtime', 'responses-session', 'live-session', 'bidi-generate-content', 'opaque-session'])(
  'nonsense leaves a session of %s as it is',
  (name) => {
    const reader = createSessionReader(name);
    const nonsense = [
      '',
      '{',
      'null',
      '[]',
      '{"usage":{}}',
      '{"type":"response.done","usage":{ }}',
      '{"type":"error","error":7}',
    ];
    for (const text of [...nonsense, '{"usageMetadata":[]}', '{"type":"session.created","session":null}']) {
      reader.pushServer(Buffer.from(text));
      reader.pushClient(Buffer.from(text));
    }
    reader.finish();
    expect(reader.reading.usage).toBeNull();
  },
);

describe('a responses session whose turns are served on different terms', () => {
  const completed = (service_tier: string): JsonValue => ({
    type: 'response.completed',
    response: {
      status: 'completed',
      model: 'gpt-5.4',
      service_tier,
      usage: { input_tokens: 1000, output_tokens: 10, total_tokens: 1010 },
    },
  });

  test('keeps those of the first as its own, and the others apart', () => {
    const { reading } = read('responses-session', [completed('flex'), completed('default'), completed('flex')]);
    expect(reading).toMatchObject({ serviceTier: 'flex', usage: { classes: { input: 2000, output: 20 } } });
    const terms = { serviceTier: 'default', speed: null, inferenceGeo: null };
    const classes = { input: 1000, output: 10 };
    expect(reading.usage?.others).toEqual([{ purpose: 'turns', model: null, classes, terms }]);
  });
});

test('turns that report ever new names do not make their sum grow with them', () => {
  const native = Array.from({ length: 40 }, (_, turn) =>
    Object.fromEntries([['input_tokens', 2], ...Array.from({ length: 20 }, (_, index) => [`n${turn}_${index}`, 1])]),
  );
  const sum = native.reduce(sumNative, {});
  expect(sum['input_tokens']).toBe(80);
  expect(Object.keys(sum)).toHaveLength(256);
});
