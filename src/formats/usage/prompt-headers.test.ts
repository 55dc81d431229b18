/** The cached part of a prompt that stands in the head of an answer, and how it joins the usage of the body. */
import { describe, expect, test } from 'vitest';
import { chatCompletions } from './chat-completions.ts';
import { NOTHING_REPORTED } from './reported-usage.ts';

function readHead(headers: Readonly<Record<string, string>>) {
  return chatCompletions.readHead?.((name) => headers[name] ?? null, NOTHING_REPORTED) ?? NOTHING_REPORTED;
}

const HEAD = { 'fireworks-prompt-tokens': '2048', 'fireworks-cached-prompt-tokens': '1536' };
const USAGE = { prompt_tokens: 2048, completion_tokens: 16, total_tokens: 2064 };

describe('the head of an answer', () => {
  test('tells what came from the cache where the body does not', () => {
    const reported = chatCompletions.readJson({ usage: USAGE }, readHead(HEAD));
    expect(reported.usage?.classes).toEqual({ input: 512, cache_read: 1536, output: 16 });
    expect(reported.flags).toEqual([]);
  });

  test('gives way to the usage object', () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 1024 } };
    const reported = chatCompletions.readJson({ usage }, readHead(HEAD));
    expect(reported.usage?.classes).toEqual({ input: 1024, cache_read: 1024, output: 16 });
  });

  test('is the size of the prompt for an answer that was cut', () => {
    expect(readHead(HEAD).usage?.classes).toEqual({ input: 512, cache_read: 1536 });
  });

  test.each([{}, { 'fireworks-prompt-tokens': '' }, { 'fireworks-cached-prompt-tokens': '12 tokens' }])(
    'says nothing where it has no whole number: %o',
    (headers) => {
      expect(readHead(headers)).toBe(NOTHING_REPORTED);
    },
  );
});
