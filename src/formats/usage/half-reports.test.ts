/** A model that writes is billed for prompt and answer: a report with one of them, or with what is no count, is not whole. */
import { describe, expect, test } from 'vitest';
import type { UsageFormatName } from '../../providers/format-names.ts';
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { USAGE_FORMATS } from './registry.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

function readWhole(format: UsageFormatName, body: JsonObject) {
  const { usage, flags } = USAGE_FORMATS[format].readJson(body, NOTHING_REPORTED);
  return { classes: usage?.classes, isIncomplete: usage?.isIncomplete ?? false, flags };
}

const LONG = { text: 'a'.repeat(100) };

describe('what is billed for both sides, and reports one, is incomplete', () => {
  test.each<[string, UsageFormatName, JsonObject, object]>([
    ['a chat without its answer', 'chat-completions', { usage: { prompt_tokens: 7 } }, { input: 7 }],
    ['a chat without its prompt', 'chat-completions', { usage: { completion_tokens: 7 } }, { output: 7 }],
    ['a null is no zero', 'chat-completions', { usage: { prompt_tokens: 7, completion_tokens: null } }, { input: 7 }],
    ['a response', 'responses', { status: 'completed', usage: { input_tokens: 7 } }, { input: 7 }],
    ['a message without its answer', 'messages', { ...LONG, usage: { input_tokens: 7 } }, { input: 7 }],
    ['a message without its prompt', 'messages', { ...LONG, usage: { output_tokens: 7 } }, { output: 7 }],
    ['Converse', 'converse', { usage: { inputTokens: 7 } }, { input: 7 }],
    ['a picture', 'images', { data: [], usage: { input_tokens: 7 } }, { input: 7 }],
    ['Gemini without its prompt', 'generate-content', { usageMetadata: { candidatesTokenCount: 7 } }, { output: 7 }],
    ['Claude behind invoke', 'invoke', { usage: { input_tokens: 7 } }, { input: 7 }],
  ])('%s', (_, format, body, classes) => {
    expect(readWhole(format, body)).toEqual({ classes, isIncomplete: true, flags: [] });
  });
});

describe('what has one side by its nature is whole', () => {
  test.each<[string, UsageFormatName, JsonObject, object]>([
    ['embeddings', 'embeddings', { usage: { prompt_tokens: 7, total_tokens: 7 } }, { input: 7 }],
    [
      'a prompt that fills the total',
      'chat-completions',
      { usage: { prompt_tokens: 7, total_tokens: 7 } },
      { input: 7 },
    ],
    ['a count of a prompt', 'messages', { input_tokens: 7 }, { input: 7 }],
    [
      'a blocked prompt',
      'generate-content',
      { usageMetadata: { promptTokenCount: 7, totalTokenCount: 7 } },
      { input: 7 },
    ],
    ['an embedding behind invoke', 'invoke', { embedding: [], inputTextTokenCount: 7 }, { input: 7 }],
  ])('%s', (_, format, body, classes) => {
    expect(readWhole(format, body)).toEqual({ classes, isIncomplete: false, flags: [] });
  });
});

describe('a count that is no number is said, and makes the rest incomplete', () => {
  test.each<[string, UsageFormatName, JsonObject, object]>([
    [
      'text for the cached part',
      'chat-completions',
      { usage: { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: '5' } } },
      { input: 7, output: 1 },
    ],
    [
      'text for searches',
      'messages',
      { usage: { input_tokens: 7, output_tokens: 1, server_tool_use: { web_search_requests: '3' } } },
      { input: 7, output: 1 },
    ],
    ['beyond every number', 'converse', { usage: JSON.parse('{"inputTokens":7,"outputTokens":1e400}') }, { input: 7 }],
  ])('%s', (_, format, body, classes) => {
    expect(readWhole(format, body)).toEqual({ classes, isIncomplete: true, flags: ['inconsistent'] });
  });
});

test('a tool of the provider that has no class may be billed', () => {
  const usage = { input_tokens: 7, output_tokens: 1, server_tool_use: { web_search_requests: 0, drawing_requests: 2 } };
  expect(readWhole('messages', { usage })).toEqual({
    classes: { input: 7, output: 1, web_search_requests: 0 },
    isIncomplete: true,
    flags: [],
  });
  const unused = { ...usage, server_tool_use: { drawing_requests: 0 } };
  expect(readWhole('messages', { usage: unused }).isIncomplete).toBe(false);
});

test('tokens of a modality that has no class are billed at an unknown price', () => {
  const usageMetadata = {
    promptTokenCount: 7,
    candidatesTokenCount: 1,
    totalTokenCount: 8,
    promptTokensDetails: [{ modality: 'HOLOGRAM', tokenCount: 3 }],
  };
  expect(readWhole('generate-content', { usageMetadata }).isIncomplete).toBe(true);
  const document = { ...usageMetadata, promptTokensDetails: [{ modality: 'DOCUMENT', tokenCount: 3 }] };
  expect(readWhole('generate-content', { usageMetadata: document }).isIncomplete).toBe(false);
});

test('tokens of Converse’s total that belong to no part are billed at an unknown price', () => {
  const usage = { inputTokens: 7, outputTokens: 1, totalTokens: 9 };
  expect(readWhole('converse', { usage })).toEqual({
    classes: { input: 7, output: 1 },
    isIncomplete: true,
    flags: ['inconsistent'],
  });
});

describe('output of a model that answers in sound or pictures too must be taken apart', () => {
  const chat = { prompt_tokens: 7, completion_tokens: 9, total_tokens: 16 };
  const gemini = { promptTokenCount: 7, candidatesTokenCount: 9, totalTokenCount: 16 };
  test.each<[string, UsageFormatName, JsonObject, boolean]>([
    ['sound, not split', 'chat-completions', { model: 'gpt-audio', usage: chat }, true],
    [
      'sound, split',
      'chat-completions',
      { model: 'gpt-audio', usage: { ...chat, completion_tokens_details: { audio_tokens: 0, text_tokens: 9 } } },
      false,
    ],
    ['text alone', 'chat-completions', { model: 'gpt-4o-mini', usage: chat }, false],
    [
      'pictures, not split',
      'generate-content',
      { modelVersion: 'gemini-2.5-flash-image', usageMetadata: gemini },
      true,
    ],
    [
      'pictures, split',
      'generate-content',
      {
        modelVersion: 'gemini-2.5-flash-image',
        usageMetadata: { ...gemini, candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: 9 }] },
      },
      false,
    ],
    ['pictures by the compatible API', 'chat-completions', { model: 'gemini-3-pro-image', usage: chat }, true],
  ])('%s: incomplete %s', (_, format, body, isIncomplete) => {
    expect(readWhole(format, body).isIncomplete).toBe(isIncomplete);
  });
});
