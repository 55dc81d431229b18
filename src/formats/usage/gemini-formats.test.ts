/** Google's formats: generateContent, Interactions, embeddings, batches, and the pictures of Imagen. */
import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject, JsonValue, ReportedUsage } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

function read(format: UsageFormatName, body: JsonValue): ReportedUsage {
  return USAGE_FORMATS[format].readJson(body, NOTHING_REPORTED);
}

function readEvents(format: UsageFormatName, events: readonly JsonObject[]): ReportedUsage {
  return events.reduce((reported, event) => USAGE_FORMATS[format].readEvent(null, event, reported), NOTHING_REPORTED);
}

describe('generateContent: thoughts and tool results stand beside the totals', () => {
  test.each<[string, JsonObject, object, number | null, string[]]>([
    [
      'thoughts',
      { promptTokenCount: 55021, candidatesTokenCount: 923, thoughtsTokenCount: 785, totalTokenCount: 56729 },
      { input: 55021, output: 1708 },
      785,
      [],
    ],
    [
      'audio in',
      {
        promptTokenCount: 3400,
        candidatesTokenCount: 150,
        totalTokenCount: 3550,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 200 },
          { modality: 'AUDIO', tokenCount: 3200 },
        ],
      },
      { input: 200, input_audio: 3200, output: 150 },
      null,
      [],
    ],
    [
      'cached audio',
      {
        promptTokenCount: 5000,
        cachedContentTokenCount: 3000,
        candidatesTokenCount: 200,
        totalTokenCount: 5200,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 1000 },
          { modality: 'AUDIO', tokenCount: 4000 },
        ],
        cacheTokensDetails: [
          { modality: 'TEXT', tokenCount: 500 },
          { modality: 'AUDIO', tokenCount: 2500 },
        ],
      },
      { input: 500, input_audio: 1500, cache_read: 500, cache_read_audio: 2500, output: 200 },
      null,
      [],
    ],
    [
      'tool results are more input',
      {
        promptTokenCount: 700,
        toolUsePromptTokenCount: 1500,
        candidatesTokenCount: 300,
        thoughtsTokenCount: 100,
        totalTokenCount: 2600,
        toolUsePromptTokensDetails: [{ modality: 'TEXT', tokenCount: 1500 }],
      },
      { input: 2200, output: 400 },
      100,
      [],
    ],
    [
      'images and video in, documents are text',
      {
        promptTokenCount: 1000,
        candidatesTokenCount: 1,
        totalTokenCount: 1001,
        promptTokensDetails: [
          { modality: 'IMAGE', tokenCount: 258 },
          { modality: 'VIDEO', tokenCount: 500 },
          { modality: 'DOCUMENT', tokenCount: 200 },
          { modality: 'TEXT', tokenCount: 42 },
        ],
      },
      { input: 242, input_image: 258, input_video: 500, output: 1 },
      null,
      [],
    ],
    [
      'image out',
      {
        promptTokenCount: 20,
        candidatesTokenCount: 1290,
        totalTokenCount: 1310,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
      },
      { input: 20, output: 0, output_image: 1290 },
      null,
      [],
    ],
    [
      'audio out',
      {
        promptTokenCount: 40,
        candidatesTokenCount: 800,
        totalTokenCount: 840,
        candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 800 }],
      },
      { input: 40, output: 0, output_audio: 800 },
      null,
      [],
    ],
    ['no output (blocked)', { promptTokenCount: 9, totalTokenCount: 9 }, { input: 9 }, null, []],
    [
      'a total that does not add up',
      { promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 99 },
      { input: 9, output: 1 },
      null,
      ['inconsistent'],
    ],
  ])('%s', (name, usageMetadata, classes, reasoning, flags) => {
    const reported = read('generate-content', { candidates: [], usageMetadata, modelVersion: 'gemini-2.5-pro' });
    // Nobody knows which of its numbers is right.
    const doubt = ['a total that does not add up'].includes(name) ? { isIncomplete: true } : {};
    expect(reported.usage).toEqual({ classes, reasoning, native: usageMetadata, ...doubt });
    expect(reported.flags).toEqual(flags);
    expect(reported.model).toBe('gemini-2.5-pro');
  });

  test('video out is told apart', () => {
    const usageMetadata = {
      promptTokenCount: 20,
      candidatesTokenCount: 5800,
      totalTokenCount: 5820,
      candidatesTokensDetails: [{ modality: 'VIDEO', tokenCount: 5800 }],
    };
    expect(read('generate-content', { usageMetadata }).usage?.classes).toEqual({
      input: 20,
      output: 0,
      output_video: 5800,
    });
  });

  test.each([
    ['the body names it', { serviceTier: 'flex' }, 'flex'],
    ['the traffic type', { trafficType: 'ON_DEMAND_FLEX' }, 'ON_DEMAND_FLEX'],
    ['the header, where the body is silent', {}, 'priority'],
  ])('the tier: %s', (_, more, tier) => {
    const header = (name: string) => (name === 'x-gemini-service-tier' ? 'priority' : null);
    const head = USAGE_FORMATS['generate-content'].readHead?.(header, NOTHING_REPORTED) ?? NOTHING_REPORTED;
    const body = { usageMetadata: { promptTokenCount: 1, totalTokenCount: 1, ...more } };
    expect(USAGE_FORMATS['generate-content'].readJson(body, head).serviceTier).toBe(tier);
  });

  test('streams report running totals: the last wins, and queries are not counted twice', () => {
    const candidates = [{ groundingMetadata: { webSearchQueries: ['a'] } }];
    const reported = readEvents('generate-content', [
      { usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 } },
      { candidates, usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 3, totalTokenCount: 11 } },
      {
        candidates: [{ finishReason: 'STOP' }],
        usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 5, totalTokenCount: 13 },
      },
    ]);
    expect(reported.usage?.classes).toEqual({ input: 8, output: 5, web_search_requests: 1, grounded_prompts: 1 });
    expect(reported.terminal).toBe(true);
    expect(reported.flags).toEqual([]);
  });

  test('grounding that comes on an element without usage is counted with the usage so far', () => {
    const reported = readEvents('generate-content', [
      { usageMetadata: { promptTokenCount: 8, candidatesTokenCount: 5, totalTokenCount: 13 } },
      { candidates: [{ finishReason: 'STOP', groundingMetadata: { webSearchQueries: ['a', 'b'] } }] },
    ]);
    expect(reported.usage?.classes).toEqual({ input: 8, output: 5, web_search_requests: 2, grounded_prompts: 1 });
  });

  test('a prompt that was blocked ends the answer', () => {
    const body = {
      promptFeedback: { blockReason: 'SAFETY' },
      usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
    };
    expect(readEvents('generate-content', [body])).toMatchObject({ terminal: true, usage: { classes: { input: 9 } } });
  });

  test('a live turn calls its answer a response', () => {
    const usageMetadata = {
      promptTokenCount: 30,
      responseTokenCount: 12,
      totalTokenCount: 42,
      responseTokensDetails: [{ modality: 'AUDIO', tokenCount: 10 }],
    };
    expect(read('generate-content', { usageMetadata }).usage?.classes).toEqual({
      input: 30,
      output: 2,
      output_audio: 10,
    });
  });
});

describe('grounding: prompts and queries are both counted, and the model decides which of them costs', () => {
  const web = { web: { uri: 'https://example.com' } };
  const maps = { maps: { placeId: 'places/1' } };

  test.each<[string, string, JsonObject, object]>([
    [
      'queries',
      'gemini-3.5-flash',
      { webSearchQueries: ['a', 'b'], groundingChunks: [web] },
      { web_search_requests: 2, grounded_prompts: 1 },
    ],
    [
      'a query that is repeated, and an empty one',
      'gemini-3.5-flash',
      { webSearchQueries: ['a', 'a', ''] },
      { web_search_requests: 1, grounded_prompts: 1 },
    ],
    [
      'image searches',
      'gemini-3.1-flash-image',
      { webSearchQueries: ['a'], imageSearchQueries: ['b'] },
      { web_search_requests: 2, grounded_prompts: 1 },
    ],
    ['pages without queries', 'gemini-2.5-flash', { groundingChunks: [web] }, { grounded_prompts: 1 }],
    [
      'a map of a model that is billed by the query',
      'gemini-3.5-flash',
      { webSearchQueries: ['a', 'b'], groundingChunks: [maps] },
      { maps_requests: 2 },
    ],
    [
      'a map of a model that is billed by the prompt',
      'gemini-2.5-pro',
      { webSearchQueries: ['a', 'b'], groundingChunks: [maps] },
      { maps_requests: 1 },
    ],
    ['a map without queries', 'gemini-3.5-flash', { groundingChunks: [maps] }, { maps_requests: 1 }],
    [
      'both, by the query',
      'gemini-3.5-flash',
      { webSearchQueries: ['a'], groundingChunks: [web, maps] },
      { web_search_requests: 1, grounded_prompts: 1 },
    ],
    [
      'both, by the prompt',
      'gemini-2.5-pro',
      { webSearchQueries: ['a'], groundingChunks: [web, maps] },
      { web_search_requests: 1, grounded_prompts: 1, maps_requests: 1 },
    ],
    ['own files', 'gemini-3.5-flash', { groundingChunks: [{ retrievedContext: { title: 'x' } }] }, {}],
    ['nothing found and nothing asked', 'gemini-3.5-flash', { webSearchQueries: [] }, {}],
  ])('%s', (_, modelVersion, groundingMetadata, classes) => {
    const usageMetadata = {
      promptTokenCount: 10,
      candidatesTokenCount: 5,
      candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 5 }],
      totalTokenCount: 15,
    };
    const reported = read('generate-content', { candidates: [{ groundingMetadata }], usageMetadata, modelVersion });
    expect(reported.usage).toEqual({
      classes: { input: 10, output: 5, ...classes },
      reasoning: null,
      native: usageMetadata,
    });
  });
});

describe('interactions', () => {
  const usage = {
    total_input_tokens: 100,
    total_cached_tokens: 40,
    total_tool_use_tokens: 10,
    total_output_tokens: 20,
    total_thought_tokens: 5,
    total_tokens: 135,
    input_tokens_by_modality: [{ modality: 'image', tokens: 30 }],
    grounding_tool_count: [
      { type: 'google_search', count: 2 },
      { type: 'google_maps', count: 1 },
      { type: 'retrieval', count: 0 },
    ],
  };

  test.each<[JsonObject, boolean]>([
    [{ type: 'retrieval', count: 7 }, true],
    [{ type: 'a_newer_tool', count: 1 }, true],
    [{ count: 1 }, true],
    [{ type: 'retrieval', count: 0 }, false],
    [{ type: 'google_search', count: 7 }, false],
  ])('of a tool without a class leave the cost open: %j, %s', (counted, isOpen) => {
    const native = {
      total_input_tokens: 10,
      total_output_tokens: 5,
      total_tokens: 15,
      grounding_tool_count: [counted],
    };
    const reported = read('interactions', { id: 'i', model: 'gemini-3.5-flash', status: 'completed', usage: native });
    expect(reported.usage?.classes).toMatchObject({ input: 10, output: 5 });
    expect(reported.usage?.isIncomplete).toBe(isOpen || undefined);
  });

  test('use names of their own, in JSON and at the end of a stream', () => {
    const interaction = { id: 'i', model: 'gemini-3.5-flash', status: 'completed', service_tier: 'standard', usage };
    const whole = read('interactions', interaction);
    expect(whole).toEqual({
      ...NOTHING_REPORTED,
      usage: {
        classes: {
          input: 40,
          input_image: 30,
          cache_read: 40,
          output: 25,
          web_search_requests: 2,
          grounded_prompts: 1,
          maps_requests: 1,
        },
        reasoning: 5,
        native: usage,
      },
      model: 'gemini-3.5-flash',
      serviceTier: 'standard',
      laterResult: { id: 'i', isFinal: true },
      terminal: true,
    });
    const events = [
      { event_type: 'interaction.created', interaction: { id: 'i', model: 'gemini-3.5-flash', status: 'in_progress' } },
      { event_type: 'interaction.completed', interaction },
    ];
    expect(readEvents('interactions', events)).toEqual(whole);
  });

  test.each([
    ['queued', false],
    ['in_progress', false],
    ['requires_action', true],
    ['requires_continuation', true],
    ['completed', true],
    ['incomplete', true],
    ['cancelled', true],
    ['budget_exceeded', true],
    ['failed', true],
  ])('%s: billed now? %s', (status, isFinal) => {
    expect(read('interactions', { id: 'i', status }).laterResult).toMatchObject({ id: 'i', isFinal });
  });

  test('a stream that was cut hands nothing over', () => {
    const event = { event_type: 'interaction.created', interaction: { id: 'i', model: 'm', status: 'in_progress' } };
    expect(readEvents('interactions', [event])).toEqual({ ...NOTHING_REPORTED, model: 'm' });
  });

  test('an agent is named, a failure and an error event are errors', () => {
    const failed = {
      id: 'i',
      agent: 'deep-research',
      status: 'failed',
      errors: [{ code: 'internal', message: 'No.' }],
    };
    const error = { type: 'internal', message: 'No.' };
    expect(read('interactions', failed)).toMatchObject({ model: 'deep-research', error });
    const event = { event_type: 'error', error: { code: 'internal', message: 'No.' } };
    expect(readEvents('interactions', [event])).toEqual({ ...NOTHING_REPORTED, error });
  });

  test('a total without its parts is no usage that could be priced', () => {
    const reported = read('interactions', { id: 'i', status: 'completed', usage: { total_tokens: 197 } });
    expect(reported.usage?.classes).toEqual({});
    expect(reported.flags).toEqual(['inconsistent']);
  });
});

describe('embeddings', () => {
  test.each<[string, JsonObject, object | undefined]>([
    ['as reported', { embedding: { values: [1] }, usageMetadata: { promptTokenCount: 7 } }, { input: 7 }],
    [
      'by modality',
      {
        embeddings: [{ values: [1] }],
        usageMetadata: {
          promptTokenCount: 265,
          promptTokenDetails: [
            { modality: 'TEXT', tokenCount: 7 },
            { modality: 'IMAGE', tokenCount: 258 },
          ],
        },
      },
      { input: 7, input_image: 258 },
    ],
    [
      'by embedding',
      { embeddings: [{ statistics: { tokenCount: 3 } }, { statistics: { tokenCount: 4 } }] },
      { input: 7 },
    ],
    ['by some of them: nothing is guessed', { embeddings: [{ statistics: { tokenCount: 3 } }, {}] }, undefined],
    ['not at all', { embedding: { values: [1] } }, undefined],
  ])('%s', (_, body, classes) => {
    expect(read('gemini-embeddings', body).usage?.classes).toEqual(classes);
  });
});

describe('batches', () => {
  const answer = (prompt: number, output: number, more: JsonObject = {}): JsonObject => ({
    response: {
      modelVersion: 'gemini-2.5-flash',
      usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: output, totalTokenCount: prompt + output },
      ...more,
    },
  });
  const done = (inlinedResponses: readonly JsonValue[]): JsonObject => ({
    name: 'batches/b1',
    metadata: { model: 'models/gemini-2.5-flash', state: 'BATCH_STATE_SUCCEEDED' },
    done: true,
    response: { inlinedResponses: { inlinedResponses } },
  });

  test('are made later', () => {
    const body = { name: 'batches/b1', metadata: { model: 'models/gemini-2.5-flash', state: 'BATCH_STATE_PENDING' } };
    expect(read('gemini-batch', body)).toEqual({
      ...NOTHING_REPORTED,
      model: 'gemini-2.5-flash',
      laterResult: { id: 'batches/b1', isFinal: false },
      terminal: true,
    });
  });

  test('hold all answers when they are done, and their usage is summed', () => {
    const reported = read('gemini-batch', done([answer(10, 5), { error: { code: 3 } }, answer(20, 7)]));
    expect(reported.usage?.classes).toEqual({ input: 30, output: 12 });
    expect(reported.usage?.others).toBeUndefined();
    expect(reported.laterResult).toEqual({ id: 'batches/b1', isFinal: true });
    expect(reported.error).toBeNull();
  });

  test('long prompts are summed apart, and what is summed together says how long the longest was', () => {
    const body = done([answer(50_000, 1), answer(250_000, 2), answer(100_000, 3)]);
    expect(read('gemini-batch', body).usage).toEqual({
      classes: { input: 150_000, output: 4 },
      reasoning: null,
      others: [
        {
          purpose: 'batch',
          model: 'gemini-2.5-flash',
          classes: { input: 250_000, output: 2 },
          largestPrompt: 250_000,
        },
      ],
      largestPrompt: 100_000,
      native: {
        'gemini-2.5-flash': { promptTokenCount: 400_000, candidatesTokenCount: 6, totalTokenCount: 400_006 },
      },
    });
  });

  test.each<[string, (output: JsonObject) => JsonObject]>([
    ['response', (output) => ({ response: output })],
    ['response.output', (output) => ({ response: { output } })],
    ['metadata.output', (output) => ({ metadata: { model: 'models/gemini-2.5-flash', output } })],
    ['both, which are one', (output) => ({ metadata: { output }, response: output })],
  ])('are read in %s', (_place, place) => {
    const { response: _, ...empty } = done([]);
    const inlined = { inlinedResponses: { inlinedResponses: [answer(10, 5), answer(20, 7)] } };
    expect(read('gemini-batch', { ...empty, ...place(inlined) })).toMatchObject({
      usage: { classes: { input: 30, output: 12 } },
      laterResult: { id: 'batches/b1', isFinal: true },
      flags: [],
    });
    const inFile = { ...empty, ...place({ responsesFile: 'files/batch-1' }) };
    expect(read('gemini-batch', inFile)).toMatchObject({ usage: null, laterResult: { isFinal: false }, flags: [] });
  });

  test('of embeddings count each, in text', () => {
    const inlinedResponses = [{ response: { tokenCount: '3' } }, { response: { tokenCount: '4' } }];
    const body = { name: 'batches/e', done: true, response: { inlinedEmbedContentResponses: { inlinedResponses } } };
    expect(read('gemini-batch', body).usage?.classes).toEqual({ input: 7 });
  });

  test('whose answers are in a file are not counted by the call that names it', () => {
    const body = { name: 'batches/b1', done: true, response: { responsesFile: 'files/batch-1' } };
    expect(read('gemini-batch', body)).toMatchObject({ usage: null, laterResult: { isFinal: false }, flags: [] });
  });

  test('in a file: each line adds up, and the file is billed once, by the id in the path', () => {
    const start = { ...NOTHING_REPORTED, laterResult: { id: 'files/batch-1', isFinal: false } };
    const lines = [
      { key: 'a', ...answer(10, 5) },
      { key: 'b', error: { code: 3 } },
      { key: 'c', ...answer(20, 7) },
    ];
    const reported = lines.reduce<ReportedUsage>(
      (seen, line) => USAGE_FORMATS['gemini-batch'].readEvent(null, line, seen),
      start,
    );
    expect(reported.usage?.classes).toEqual({ input: 30, output: 12 });
    expect(reported).toMatchObject({ model: 'gemini-2.5-flash', laterResult: { id: 'files/batch-1', isFinal: true } });
    expect(USAGE_FORMATS['gemini-batch'].readEvent(null, { other: 'file' }, start)).toBe(start);
  });

  test('whose answers could not be read say so', () => {
    expect(read('gemini-batch', { ...done([]), response: {} })).toMatchObject({ usage: null, flags: ['tap_limit'] });
    const failed = done([{ error: { code: 3 } }]);
    expect(read('gemini-batch', failed)).toMatchObject({ usage: null, flags: [], laterResult: { isFinal: true } });
  });

  test('that failed are an error, and a list of them is nothing', () => {
    const failed = { name: 'batches/b1', done: true, error: { code: 13, message: 'No.' } };
    expect(read('gemini-batch', failed)).toMatchObject({ error: { message: 'No.' }, flags: [] });
    expect(read('gemini-batch', { operations: [done([answer(1, 1)])] })).toEqual({
      ...NOTHING_REPORTED,
      terminal: true,
    });
  });
});

test('pictures are counted, and those that were filtered out are not', () => {
  const predictions = [{ mimeType: 'image/png' }, { raiFilteredReason: 'safety' }, { mimeType: 'image/png' }];
  expect(read('imagen', { predictions }).usage).toEqual({
    classes: { output_images: 2 },
    reasoning: null,
    native: { output_images: 2 },
  });
  expect(read('imagen', {}).usage).toBeNull();
});

test('grounding that comes before any usage is counted as it is in one piece', () => {
  const grounded = { groundingMetadata: { webSearchQueries: ['a', 'b'], groundingChunks: [{ web: { uri: 'u' } }] } };
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 1, totalTokenCount: 11 };
  const modelVersion = 'gemini-3-pro-preview';
  const last = { candidates: [{ finishReason: 'STOP' }], usageMetadata, modelVersion };
  const whole = read('generate-content', { candidates: [grounded], usageMetadata, modelVersion });
  const parts = readEvents('generate-content', [{ candidates: [grounded], modelVersion }, last]);
  expect(parts.usage).toEqual(whole.usage);
  expect(parts.usage?.classes).toEqual({ input: 10, output: 1, web_search_requests: 2, grounded_prompts: 1 });
});

test('cached sound is a part of the prompt, also where the modalities of the prompt are not told', () => {
  const usageMetadata = {
    promptTokenCount: 1000,
    cachedContentTokenCount: 400,
    cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 400 }],
    candidatesTokenCount: 1,
    totalTokenCount: 1001,
  };
  expect(read('generate-content', { usageMetadata }).usage?.classes).toEqual({
    input: 600,
    cache_read: 0,
    cache_read_audio: 400,
    output: 1,
  });
});
