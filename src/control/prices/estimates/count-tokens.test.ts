import { expect, test } from 'vitest';
import { countText, tokensByBytes } from './count-tokens.ts';

/** Stands in for the encoding, which the thread loads: what is asked for, a token each character. */
function createCounter(deadlineMs = Number.POSITIVE_INFINITY) {
  const asked: string[] = [];
  const countTokens = (text: string) => {
    asked.push(text);
    return text.length;
  };
  return { asked, countTokens, nowMs: () => asked.length, deadlineMs };
}

test('a text is counted whole', () => {
  const counter = createCounter();
  const counted = countText({ texts: ['one two', 'three'], overBytes: 0 }, counter);
  expect(counter.asked).toEqual(['one two', 'three']);
  expect(counted).toEqual({ tokens: 12, isRough: false, isCjk: false });
});

test('runs of more than 1,000 characters without a break, or of nothing but breaks, are taken apart', () => {
  const counter = createCounter();
  countText({ texts: [`a ${'x'.repeat(2_500)} b`, ' '.repeat(1_200)], overBytes: 0 }, counter);
  expect(counter.asked.map(({ length }) => length)).toEqual([1_002, 1_000, 502, 1_000, 200]);
});

test('no piece is long, and none of the text is lost', () => {
  const counter = createCounter();
  const text = 'word '.repeat(20_000);
  expect(countText({ texts: [text], overBytes: 0 }, counter).tokens).toBe(100_000);
  expect(counter.asked.join('')).toBe(text);
  expect(Math.max(...counter.asked.map(({ length }) => length))).toBeLessThanOrEqual(16 * 1024);
});

test('what is left when the time is over, and what was not kept, is counted by bytes', () => {
  const counter = createCounter(1);
  const counted = countText({ texts: ['one two', 'x'.repeat(37)], overBytes: 74 }, counter);
  expect(counted).toEqual({ tokens: 7 + 30, isRough: true, isCjk: false });
  expect([tokensByBytes(0), tokensByBytes(1), tokensByBytes(37)]).toEqual([0, 1, 10]);
});

test('a text that is mostly Chinese, Japanese or Korean is told', () => {
  const isCjk = (...texts: string[]) => countText({ texts, overBytes: 0 }, createCounter()).isCjk;
  expect([isCjk('数え間違いなし'), isCjk('통행료'), isCjk('料金所 is a word for a toll gate'), isCjk()]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
