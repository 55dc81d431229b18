import { expect, test } from 'vitest';
import { readLineItem } from './openai-line-item.ts';

test.each([
  ['gpt-4o-2024-08-06, input', 'gpt-4o-2024-08-06'],
  ['gpt-4o-mini-2024-07-18, cached input', 'gpt-4o-mini-2024-07-18'],
  ['gpt-5.6-terra, cache writes', 'gpt-5.6-terra'],
  ['priority | gpt-5.6-sol, output, long context', 'gpt-5.6-sol'],
  ['gpt-image-1 image, output', 'gpt-image-1'],
  ['gpt-image-2-2026-04-21 text, cached input', 'gpt-image-2-2026-04-21'],
  ['ft:gpt-4o-mini-2024-07-18:acme::B1, output', 'ft:gpt-4o-mini-2024-07-18:acme::B1'],
])('%s is billed for the model %s', (lineItem, name) => {
  expect(readLineItem(lineItem)).toEqual({ type: 'model', name });
});

test.each([
  'web search tool calls',
  'whisper',
  'gpt-4o input',
  'a group of models, input',
  'code interpreter sessions',
])('"%s" names no model by any declared form, and stays what it is', (lineItem) => {
  expect(readLineItem(lineItem)).toEqual({ type: 'item', name: lineItem });
});
