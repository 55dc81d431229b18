import { describe, expect, test } from 'vitest';
import { readWholeJson } from './whole-json.ts';

describe('a JSON answer that is too large to be parsed', () => {
  const picture = 'A'.repeat(700_000);

  test('keeps the number of its large list, where asked to, and what is small of it', () => {
    const body = {
      created: 1,
      data: [{ b64_json: picture }, { raiFilteredReason: 'safety' }, { b64_json: picture }],
      usage: { total_tokens: 7 },
    };
    expect(readWholeJson(Buffer.from(JSON.stringify(body)), true)).toEqual({
      body: { created: 1, data: [{}, { raiFilteredReason: 'safety' }, {}], usage: { total_tokens: 7 } },
      complete: true,
    });
  });

  test('keeps the kind of what else is large', () => {
    const body = { text: picture, more: { text: picture }, rows: [[picture], 1] };
    const bytes = Buffer.from(JSON.stringify(body));
    expect(readWholeJson(bytes, true).body).toEqual({ text: '', more: {}, rows: [[], 1] });
    expect(readWholeJson(bytes, false).body).toEqual({ text: '', more: {}, rows: [] });
  });

  test('is whole where it is a list or a text, and no further looked into', () => {
    const list = JSON.stringify(Array.from({ length: 200_000 }, () => [1, 2]));
    expect(readWholeJson(Buffer.from(`${list}\n`), false)).toEqual({ body: undefined, complete: true });
    expect(readWholeJson(Buffer.from(list.slice(0, -1)), false)).toEqual({ body: undefined, complete: false });
    const text = JSON.stringify('ab '.repeat(500_000));
    expect(readWholeJson(Buffer.from(text), false)).toEqual({ body: undefined, complete: true });
    expect(readWholeJson(Buffer.from(`${text}<`), false)).toEqual({ body: undefined, complete: false });
  });
});
