import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { catalogText } from '../../test/support/catalog-text.ts';
import { createCatalog } from './catalog.ts';
import { formatDecimal } from './decimal.ts';
import { parseCatalog } from './parse-catalog.ts';

function problemOf(text: string): string | null {
  const parsed = parseCatalog(text, 'prices.json', '2026-11-28');
  return parsed.isOk ? null : parsed.problem;
}

function withModel(model: string): string {
  return `[{"id":"openai","name":"OpenAI","extractors":[],"models":[${model}]}]`;
}

describe('a published catalog', () => {
  it('keeps its decimals as they are written', () => {
    const text = withModel(
      '{"id":"gpt-x","name":"X","match":{"or":[{"equals":"gpt-x"},{"regex":"^gpt-x-\\\\d{8}$"}]},"prices":{"input_mtok":0.1,"cache_read_mtok":0.003625,"output_mtok":{"base":1.1,"tiers":[{"start":271999,"price":2.2}]}}}',
    );
    const parsed = parseCatalog(text, 'prices.json', '2026-11-28');
    if (!parsed.isOk) throw new Error(parsed.problem);
    expect(parsed.models).toBe(1);
    const rows = createCatalog(parsed.data).findModel('openai', 'gpt-x-20261128')?.rows();
    expect(rows?.map((row) => [row.key, formatDecimal(row.rate), row.source, row.checkedOn])).toEqual([
      ['catalog/openai/gpt-x/input', '0.1', 'prices.json', '2026-11-28'],
      ['catalog/openai/gpt-x/cache_read', '0.003625', 'prices.json', '2026-11-28'],
      ['catalog/openai/gpt-x/output', '1.1', 'prices.json', '2026-11-28'],
      ['catalog/openai/gpt-x/output>272000', '2.2', 'prices.json', '2026-11-28'],
    ]);
  });

  it('has the price version of the bundled one when it is the bundled one', () => {
    const parsed = parseCatalog(catalogText(), 'prices.json', '2030-01-02');
    if (!parsed.isOk) throw new Error(parsed.problem);
    expect(createCatalog(parsed.data).data()).toBe(createCatalog().data());
  });

  it('may have providers that the gateway does not know', () => {
    const text =
      '[{"id":"avian","models":[]},{"id":"openai","models":[{"id":"m","match":{"equals":"m"},"prices":{}}]}]';
    expect(parseCatalog(text, 'prices.json', '2026-11-28')).toMatchObject({ isOk: true, models: 1 });
  });
});

describe('what is no catalog', () => {
  it.each([
    ['nothing', '', 'it is not JSON'],
    ['a page', '<!doctype html>', 'it is not JSON'],
    ['half a file', withModel('{"id":"m"').slice(0, 60), 'it is not JSON'],
    ['something else', '{"models":[]}', 'it is not a JSON array of providers, as genai-prices publishes it'],
    ['an empty list', '[]', 'it has no model of any provider that the gateway knows'],
    ['other providers', '[{"id":"avian","models":[]}]', 'it has no model of any provider that the gateway knows'],
  ])('is refused: %s', (_name, text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it.each([
    ['a negative rate', '{"id":"m","match":{"equals":"m"},"prices":{"input_mtok":-1}}'],
    ['a rate as text', '{"id":"m","match":{"equals":"m"},"prices":{"input_mtok":"0.15"}}'],
    ['a rate that no column holds', '{"id":"m","match":{"equals":"m"},"prices":{"input_mtok":1e300}}'],
    ['a rule that is not known', '{"id":"m","match":{"like":"m"},"prices":{"input_mtok":1}}'],
    ['a rule for every name', '{"id":"m","match":{"starts_with":""},"prices":{"input_mtok":1}}'],
    [
      'a date that is none',
      '{"id":"m","match":{"equals":"m"},"prices":[{"constraint":{"start_date":"soon"},"prices":{}}]}',
    ],
    [
      'a constraint that is not known',
      '{"id":"m","match":{"equals":"m"},"prices":[{"constraint":{"weekday":1},"prices":{}}]}',
    ],
    ['a name that the database does not take', '{"id":"m\\u0000","match":{"equals":"m"},"prices":{"input_mtok":1}}'],
    ['half a character', '{"id":"m\\ud800","match":{"equals":"m"},"prices":{"input_mtok":1}}'],
    ['an expression that is none', '{"id":"m","match":{"regex":"("},"prices":{"input_mtok":1}}'],
    ['an expression without end', '{"id":"m","match":{"regex":"^(a+)+$"},"prices":{"input_mtok":1}}'],
    ['an expression of three repetitions', '{"id":"m","match":{"regex":"a*a*a*b"},"prices":{"input_mtok":1}}'],
    ['an expression of two repetitions anywhere', '{"id":"m","match":{"regex":"a.*b.*c"},"prices":{"input_mtok":1}}'],
    ['a rule that is longer than names', `{"id":"m","match":{"contains":"${'m'.repeat(513)}"},"prices":{}}`],
    ['an expression of many perhapses', `{"id":"m","match":{"regex":"${'a?'.repeat(50)}"},"prices":{"input_mtok":1}}`],
    [
      'an expression of many choices',
      `{"id":"m","match":{"regex":"^${'(a|a)'.repeat(30)}b"},"prices":{"input_mtok":1}}`,
    ],
    [
      'an expression of many ranges',
      `{"id":"m","match":{"regex":"^${'a{0,99}'.repeat(5)}b"},"prices":{"input_mtok":1}}`,
    ],
  ])('is refused with the place: %s', (_name, model) => {
    expect(problemOf(withModel(model))).toMatch(/^0\.models\.0\./);
  });

  it('is refused when looking through it would take minutes', () => {
    const rules = JSON.stringify(Array.from({ length: 1_500 }, (_, index) => ({ equals: `m${index}` })));
    const two = ['a', 'b'].map((id) => `{"id":"${id}","match":{"or":${rules}},"prices":{}}`).join(',');
    expect(problemOf(withModel(two))).toBe('openai has more than 1500 rules for names');

    const tiers = Array.from({ length: 4 }, (_, index) => ({ start: index, price: 1 }));
    const rate = { base: 1, tiers };
    const prices = Array.from({ length: 12 }, (_, index) => ({
      constraint: { start_date: `2026-01-${10 + index}` },
      prices: { input_mtok: rate, output_mtok: rate, cache_read_mtok: rate, cache_write_mtok: rate },
    }));
    const models = (count: number) =>
      Array.from({ length: count }, (_, id) => JSON.stringify({ id: `m${id}`, match: { equals: 'm' }, prices })).join(
        ',',
      );
    expect(problemOf(withModel(models(9)))).toBeNull();
    expect(problemOf(withModel(models(11)))).toBe('openai has more dated prices than can be looked through');
  });

  it('is refused at the first thing that is wrong, however much more there is', () => {
    const rules = '{"or":[{"or":[{"or":[{"like":"m"}]}]}]},'.repeat(20_000);
    expect(problemOf(withModel(`{"id":"m","match":{"or":[${rules}{"equals":"m"}]},"prices":{}}`))).toBe(
      '0.models.0.match: is no rule for names that is known',
    );
    const prices = Array.from({ length: 101 }, (_, index) => `"class${index}_mtok":1`).join(',');
    expect(problemOf(withModel(`{"id":"m","match":{"equals":"m"},"prices":{${prices}}}`))).toMatch(
      /^0\.models\.0\.prices/,
    );
  });

  it('is refused when it has more expressions than can be tried on every name', () => {
    const models = (count: number) =>
      Array.from({ length: count }, (_, id) => `{"id":"m${id}","match":{"regex":"m${id}.*x"},"prices":{}}`).join(',');
    expect(problemOf(withModel(models(5)))).toBeNull();
    expect(problemOf(withModel(models(20)))).toBe(
      'openai has more regular expressions than can be tried on every name',
    );
  });

  it('has no price for a class that is named like what every object has', () => {
    const named = ['constructor', 'toString', 'hasOwnProperty', '__proto__'].map((name) => `"${name}":1`).join(',');
    const parsed = parseCatalog(
      withModel(`{"id":"m","match":{"equals":"m"},"prices":{"input_mtok":2,${named}}}`),
      'prices.json',
      '2026-11-28',
    );
    if (!parsed.isOk) throw new Error(parsed.problem);
    const rows = createCatalog(parsed.data).findModel('openai', 'm')?.rows() ?? [];
    expect(rows.map(({ key }) => key)).toEqual(['catalog/openai/m/input']);
  });

  it('nests rules only as deep as published ones may be', () => {
    const nested = `${'{"or":['.repeat(50_000)}{"equals":"m"}${']}'.repeat(50_000)}`;
    expect(problemOf(withModel(`{"id":"m","match":${nested},"prices":{"input_mtok":1}}`))).toMatch(
      /^0\.models\.0\.match/,
    );
  });

  it('never makes the reader throw, whatever it is', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        parseCatalog(text, 'prices.json', '2026-11-28');
      }),
    );
  });
});
