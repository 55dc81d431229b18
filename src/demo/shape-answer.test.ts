import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { splitEvents, withoutUsage } from './shape-answer.ts';

const openai = join(import.meta.dirname, '..', '..', 'fixtures', 'openai');

test('taking the usage out of a stream that was asked for it gives the stream that was not asked, byte for byte', () => {
  const asked = readFileSync(join(openai, 'chat-stream-usage-asked.response.sse'), 'utf8');
  const notAsked = readFileSync(join(openai, 'chat-stream-usage-not-asked.response.sse'), 'utf8');
  expect(withoutUsage(splitEvents(asked)).join('')).toBe(notAsked);
});

test('events are cut behind their blank line, and nothing is lost', () => {
  expect(splitEvents('a: 1\n\nb: 2\r\n\r\n: c\r\rrest')).toEqual(['a: 1\n\n', 'b: 2\r\n\r\n', ': c\r\r', 'rest']);
});
