import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonThinner, MAX_KEPT_BYTES } from './json-thinner.ts';

function thin(text: string | Buffer, pieceBytes = 64 * 1024) {
  const bytes = Buffer.from(text);
  const thinner = new JsonThinner();
  for (let at = 0; at < bytes.length; at += pieceBytes) thinner.push(bytes.subarray(at, at + pieceBytes));
  return { text: thinner.take()?.toString() ?? null, isUnread: thinner.isUnread };
}

function hasLongList(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) && value.length > 4) || Object.values(value).some(hasLongList);
}

const vector = (length: number) => Array.from({ length }, (_, index) => index / 7 - 100);

describe('a JSON text', () => {
  test('of small values stays the same, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 4, stringUnit: 'grapheme' }).filter((json) => /^["[{]/.test(json)),
        fc.integer({ min: 1, max: 20 }),
        (json, size) => {
          const whole = thin(json);
          expect(thin(json, size)).toEqual(whole);
          const value: unknown = JSON.parse(json);
          const read: unknown = JSON.parse(whole.text ?? '');
          if (!hasLongList(value) && json.length < 200) expect(read).toEqual(value);
        },
      ),
    );
  });

  test.each([1, 7, 65_536])('keeps what is small behind what is large, in pieces of %i bytes', (size) => {
    const body = {
      model: 'm',
      data: [{ embedding: vector(1_000), index: 0 }, { embedding: vector(1_000) }],
      text: 'é'.repeat(10_000),
      escaped: `${'\\"\u0001'.repeat(5_000)}`,
      choices: [
        { logprobs: { content: Array.from({ length: 300 }, () => ({ token: 'a"]}', bytes: [1, 2] })) }, end: 1 },
      ],
      usage: { total_tokens: 7, details: [{ a: null }, true] },
    };
    for (const space of [0, 2]) {
      const { text, isUnread } = thin(JSON.stringify(body, null, space), size);
      const read = JSON.parse(text ?? '');
      expect(read).toMatchObject({ model: 'm', choices: [{ end: 1 }], usage: body.usage });
      expect(read.data.map(({ embedding }: { embedding: number[] }) => embedding.length)).toEqual([4, 4]);
      expect(isUnread).toBe(false);
      expect(text?.length).toBeLessThan(12_000);
    }
  });

  test('with more small members than there is room for says that some are left out, and has room for its last', () => {
    const items = Array.from({ length: 60_000 }, (_, index) => ({ type: 'message', index }));
    const { text, isUnread } = thin(JSON.stringify({ response: { output: items, usage: { total: 7 } }, more: 1 }));
    expect(isUnread).toBe(true);
    expect(JSON.parse(text ?? '')).toMatchObject({ response: { usage: { total: 7 } }, more: 1 });
    expect(text?.length).toBeLessThanOrEqual(MAX_KEPT_BYTES);
  });

  test('leaves out vectors, probabilities and arguments without a word', () => {
    const many = Array.from({ length: 30_000 }, () => ({ token: ' the', logprob: -1 }));
    for (const name of ['logprobs', 'top_logprobs', 'logprobsResult', 'embedding', 'values', 'args', 'input']) {
      const { text, isUnread } = thin(
        JSON.stringify({ choices: [{ [name]: { content: many } }], usage: { total: 7 } }),
      );
      expect([name, isUnread]).toEqual([name, false]);
      expect(JSON.parse(text ?? '').usage).toEqual({ total: 7 });
    }
  });

  test('that is cut stays cut, and one with something behind it does not become sound', () => {
    expect(thin('{"usage":{"total":7},"text":"abc').text).toBe('{"usage":{"total":7},"text":"abc');
    expect(thin('{"usage":{"total":7}}{"usage":{"total":8}}').text).toBe('{"usage":{"total":7}},');
    expect(thin('{"a":1 2}').text).toBe('{"a":1 2}');
  });
});

test.each([
  ['a word', 'aaaa'.repeat(1_000)],
  ['a page', '<html>'],
  ['a closing bracket', ']'],
  ['a number without end', `{"a":${'1'.repeat(1_000)}`],
])('%s is no JSON, and nothing is kept', (_, text) => {
  expect(thin(text)).toEqual({ text: null, isUnread: true });
});

test('brackets without end are held up to a bound', () => {
  const { text, isUnread } = thin('['.repeat(1_000_000));
  expect([text?.length, isUnread]).toEqual([expect.any(Number), true]);
  expect(text?.length).toBeLessThan(100);
});
