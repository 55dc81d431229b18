/** Sessions message by message: their turns with the usage of each, and what belongs to none. */
import { describe, expect, test } from 'vitest';
import type { SessionName } from '../../providers/format-names.ts';
import type { JsonObject, JsonValue } from '../../vocabulary/token-usage.ts';
import { sumNative } from './add-usage.ts';
import type { Turn } from './session.ts';
import { createSessionReader, type SessionReader } from './session-reader.ts';

interface ReadSession extends Pick<SessionReader, 'reported' | 'modelRequested' | 'openTurns'> {
  readonly turns: readonly Turn[];
  /** The classes of each turn that has ended. */
  readonly classes: readonly unknown[];
}

/** A message with `from: 'client'` is the client's. */
function read(name: SessionName, messages: readonly JsonValue[], client: readonly JsonValue[] = []): ReadSession {
  const reader = createSessionReader(name);
  const turns: Turn[] = [];
  for (const message of client) reader.pushClient(Buffer.from(JSON.stringify(message)));
  for (const message of messages) {
    const data = Buffer.from(JSON.stringify(message));
    const isClients = JSON.stringify(message).includes('"from":"client"');
    turns.push(...(isClients ? reader.pushClient(data) : reader.pushServer(data)).ended);
  }
  reader.finish();
  const { reported, modelRequested, openTurns } = reader;
  return { reported, modelRequested, openTurns, turns, classes: turns.map((turn) => turn.reported.usage?.classes) };
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

  test('has a turn for each response, taken apart by modality and cache', () => {
    const { turns, reported } = read('realtime', [
      CREATED,
      { type: 'response.created', response: { id: 'r' } },
      realtimeDone(FIRST),
      realtimeDone(FIRST, { id: 's' }),
    ]);
    expect(turns.map(({ number, responseId }) => [number, responseId])).toEqual([
      [1, 'r'],
      [2, 's'],
    ]);
    for (const turn of turns) {
      expect(turn.reported).toMatchObject({ model: 'gpt-realtime-2', terminal: true, flags: [] });
      expect(turn.reported.usage?.classes).toEqual({
        input: 48,
        input_audio: 9,
        input_image: 5,
        cache_read: 64,
        cache_read_audio: 4,
        cache_read_image: 2,
        output: 30,
        output_audio: 91,
      });
    }
    expect(reported).toMatchObject({ usage: null, model: 'gpt-realtime-2', flags: ['usage_in_turns'] });
  });

  test('of two responses at once ends the one that is over', () => {
    const { turns, openTurns } = read('realtime', [
      CREATED,
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.created', response: { id: 's' } },
      realtimeDone(FIRST, { id: 's' }),
    ]);
    expect(turns.map(({ responseId }) => responseId)).toEqual(['s']);
    expect(openTurns.map(({ responseId }) => responseId)).toEqual(['r']);
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
    const session = read('realtime', [CREATED, transcript(tokens), realtimeDone(FIRST), transcript(tokens)]);
    const { reported } = session;
    expect(session.turns[0]?.reported.usage?.classes.output_audio).toBe(91);
    expect(reported.usage?.classes).toEqual({});
    expect(reported.usage?.others).toEqual([
      {
        purpose: 'transcription',
        model: 'gpt-4o-mini-transcribe',
        classes: { input: 10, input_audio: 50, output: 20 },
      },
    ]);
    const timed = read('realtime', [CREATED, transcript({ type: 'duration', seconds: 2.5 })]);
    expect(timed.reported.usage?.others?.[0]?.classes).toEqual({ input_audio_ms: 2500 });
  });

  test('that only transcribes is of the transcripts’ model', () => {
    const { reported } = read('realtime', [
      {
        type: 'session.created',
        session: { type: 'transcription', audio: { input: { transcription: { model: 'whisper-1' } } } },
      },
      { type: 'conversation.item.input_audio_transcription.completed', usage: { type: 'duration', seconds: 3 } },
    ]);
    expect(reported.model).toBe('whisper-1');
    expect(reported.usage?.classes).toEqual({ input_audio_ms: 3000 });
  });

  test('tells errors, and a turn that was not over', () => {
    const { reported, openTurns } = read('realtime', [
      CREATED,
      { type: 'error', error: { type: 'invalid_request_error', message: 'no such item' } },
      { type: 'response.created', response: {} },
    ]);
    expect(reported.error).toEqual({ type: 'invalid_request_error', message: 'no such item' });
    expect(openTurns.map((turn) => turn.reported.terminal)).toEqual([false]);
    const failed = read('realtime', [
      realtimeDone(null, {
        status: 'failed',
        status_details: { type: 'failed', error: { type: 'server_error', code: 'x' } },
      }),
    ]);
    expect(failed.turns[0]?.reported).toMatchObject({ error: { type: 'server_error' }, usage: null });
    expect(failed.reported.error).toBeNull();
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

  const create = (more: Record<string, JsonValue>): JsonValue => ({ from: 'client', type: 'response.create', ...more });

  test('are turns of the model that each names', () => {
    const { turns, classes, modelRequested, reported } = read('responses-session', [
      create({ model: 'gpt-6-luna', input: 'hi' }),
      { type: 'response.created', response: { id: 'r' } },
      completed(100),
      create({ model: 'gpt-6-astra', input: 'go on' }),
      completed(300_000, 'gpt-6-astra', 50),
    ]);
    expect(modelRequested).toBe('gpt-6-luna');
    expect(turns.map((turn) => [turn.modelRequested, turn.reported.model])).toEqual([
      ['gpt-6-luna', 'gpt-6-luna'],
      ['gpt-6-astra', 'gpt-6-astra'],
    ]);
    expect(turns[0]?.reported).toMatchObject({ serviceTier: 'default', terminal: true, usage: { reasoning: 4 } });
    expect(classes).toEqual([
      { input: 100, cache_read: 0, output: 10 },
      { input: 299_950, cache_read: 50, output: 10 },
    ]);
    expect(reported).toMatchObject({ usage: null, flags: ['usage_in_turns'] });
  });

  test('on several lanes are told apart, each lane in its order', () => {
    const done = (id: string, stream_id: string, input_tokens: number): JsonValue => ({
      type: 'response.completed',
      stream_id,
      response: { id, model: 'm', usage: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } },
    });
    const { turns, openTurns } = read('responses-session', [
      create({ model: 'm-1', stream_id: 'a' }),
      create({ model: 'm-2', stream_id: 'b' }),
      create({ model: 'm-3', stream_id: 'b' }),
      { type: 'response.created', stream_id: 'b', response: { id: 'r2' } },
      { type: 'response.created', stream_id: 'a', response: { id: 'r1' } },
      done('r2', 'b', 20),
      done('r1', 'a', 10),
    ]);
    expect(turns.map((turn) => [turn.modelRequested, turn.reported.usage?.classes.input])).toEqual([
      ['m-2', 20],
      ['m-1', 10],
    ]);
    expect(openTurns.map((turn) => turn.modelRequested)).toEqual(['m-3']);
  });

  test('that are refused end with their error, which is not the session’s', () => {
    const { turns, openTurns, reported } = read('responses-session', [
      create({ model: 'm' }),
      { type: 'error', status: 400, error: { type: 'invalid_request_error', message: 'no such response' } },
      create({ model: 'm' }),
    ]);
    expect(turns[0]?.reported.error).toEqual({ type: 'invalid_request_error', message: 'no such response' });
    expect(openTurns).toHaveLength(1);
    expect(reported.error).toBeNull();
  });

  test('that prepare a later one are marked', () => {
    const { turns } = read('responses-session', [create({ model: 'm', generate: false }), completed(0)]);
    expect(turns[0]?.reported.flags).toEqual(['prewarm']);
  });

  test('are at most so many at once', () => {
    const { openTurns } = read(
      'responses-session',
      Array.from({ length: 100 }, () => create({ model: 'm' })),
    );
    expect(openTurns).toHaveLength(64);
  });
});

describe('a live session', () => {
  test('reports the sound’s duration as a running total; delegated work is a turn', () => {
    const { reported, turns } = read('live-session', [
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
    expect(reported.model).toBe('gpt-live-1');
    expect(reported.usage).toEqual({
      classes: { input_audio_ms: 10_000 },
      reasoning: null,
      native: { seconds: 10 },
    });
    expect(turns.map((turn) => [turn.reported.model, turn.reported.usage?.classes])).toEqual([
      ['gpt-6-luna', { input: 5, output: 6 }],
    ]);
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

  test('has turns, each with the whole conversation as its prompt', () => {
    const { turns, classes, modelRequested } = read(
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
    expect(classes).toEqual([
      { input: 100, input_audio: 43, output: 0, output_audio: 19 },
      { input: 100, input_audio: 81, output: 8, output_audio: 24 },
    ]);
    expect(turns.map((turn) => turn.modelRequested)).toEqual(['gemini-3.8-live', 'gemini-3.8-live']);
    expect(turns.map((turn) => [turn.reported.terminal, turn.reported.flags])).toEqual([
      [true, []],
      [true, []],
    ]);
  });

  test('takes the latest of the running totals of one turn, and two generations of a turn both', () => {
    const { classes } = read('bidi-generate-content', [
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 5) },
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 9) },
      { toolCall: { functionCalls: [] } },
      { serverContent: { turnComplete: true }, usageMetadata: usage(170, 3) },
    ]);
    expect(classes).toEqual([{ input: 200, input_audio: 113, output: 0, output_audio: 12 }]);
  });

  const places = [{ maps: { uri: 'https://maps.example/1' } }];
  test.each<[string, string, JsonObject, JsonObject]>([
    [
      'queries, each once',
      'models/gemini-3.8-live',
      { webSearchQueries: ['a', 'a', ''], imageSearchQueries: ['b'] },
      { web_search_requests: 2, grounded_prompts: 1 },
    ],
    [
      'a page among the sources',
      'models/gemini-2.5-flash-live',
      { groundingChunks: [{ web: { uri: 'https://a.example' } }] },
      { grounded_prompts: 1 },
    ],
    [
      'places',
      'models/gemini-3.8-live',
      { webSearchQueries: ['a', 'b'], groundingChunks: places },
      { maps_requests: 2 },
    ],
    [
      'places, by the prompt',
      'models/gemini-2.5-live',
      { webSearchQueries: ['a', 'b'], groundingChunks: places },
      { maps_requests: 1 },
    ],
    ['nothing', 'models/gemini-3.8-live', { webSearchQueries: [''] }, {}],
  ])('counts what it searched as generateContent does: %s', (_, model, groundingMetadata, expected) => {
    const { classes } = read(
      'bidi-generate-content',
      [
        { serverContent: { modelTurn: { parts: [] }, groundingMetadata } },
        { serverContent: { turnComplete: true }, usageMetadata: usage(143, 5) },
      ],
      [{ setup: { model } }],
    );
    expect(classes).toEqual([{ input: 100, input_audio: 43, output: 0, output_audio: 5, ...expected }]);
  });

  test('keeps the running total of a turn that was cut', () => {
    const { openTurns, turns } = read('bidi-generate-content', [
      { serverContent: { modelTurn: { parts: [] } }, usageMetadata: usage(143, 5) },
      { serverContent: { modelTurn: { parts: [] } } },
    ]);
    expect(turns).toEqual([]);
    expect(openTurns[0]?.reported.usage?.classes.output_audio).toBe(5);
    expect(openTurns[0]?.reported.isUsageFinal).toBeUndefined();
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
    expect(reader.reported.usage).toBeNull();
  },
);

test('reports of ever new names do not make their sum grow with them', () => {
  const native = Array.from({ length: 40 }, (_, turn) =>
    Object.fromEntries([['input_tokens', 2], ...Array.from({ length: 20 }, (_, index) => [`n${turn}_${index}`, 1])]),
  );
  const sum = native.reduce(sumNative, {});
  expect(sum['input_tokens']).toBe(80);
  expect(Object.keys(sum)).toHaveLength(256);
});
