import { describe, expect, test } from 'vitest';
import { createRepriceFilters } from './change-prices.ts';
import { formatPreview, PreviewAnswer } from './format-preview.ts';
import { readRates, readTokens } from './price-options.ts';

function sums(
  calls: number,
  changed: number,
  oldCost: string,
  newCost: string,
  oldUnpriced: number,
  newUnpriced: number,
) {
  return {
    calls,
    changed,
    old_cost: oldCost,
    new_cost: newCost,
    old_unpriced: oldUnpriced,
    new_unpriced: newUnpriced,
  };
}

const PREVIEW = PreviewAnswer.parse({
  ...sums(12_000, 3, '0.5', '1.75', 3, 0),
  models: [
    { provider: 'together', model: 'Acme/Sparrow', ...sums(3, 3, '0', '1.25', 3, 0) },
    { provider: 'together', model: null, ...sums(11_997, 0, '0.5', '0.5', 0, 0) },
  ],
  warnings: ['input 0.0000006 looks like a price for one token\u001b[2J'],
});

describe('a preview for a terminal', () => {
  test('has a line for each model and one for all, and its warnings', () => {
    expect(formatPreview(PREVIEW)).toEqual([
      'The latest calls that it is for (30 days, at most 2,000), as they stand and as they would be:',
      'model                  calls  change  cost now  cost then  unpriced now  then',
      'together Acme/Sparrow      3       3   ≥ $0.00      $1.25             3     0',
      'together (no model)    12.0k       0     $0.50      $0.50             0     0',
      'all                    12.0k       3   ≥ $0.50      $1.75             3     0',
      String.raw`Warning: input 0.0000006 looks like a price for one token\x1b[2J`,
    ]);
  });

  test('says when it is for no call', () => {
    const none = PreviewAnswer.parse({ ...sums(0, 0, '0', '0', 0, 0), models: [], warnings: [] });
    expect(formatPreview(none)).toEqual(['It is for none of the calls of the last 30 days.']);
  });
});

describe('the calls that are priced again after a change', () => {
  const subject = { provider: 'together', alias: null, match: 'exact', model: 'acme/sparrow' };

  test('are those of the model, as it was typed and as the log spells it', () => {
    expect(createRepriceFilters(subject, PREVIEW)).toEqual([
      'provider:eq:together',
      'billing_model:in:acme/sparrow,Acme/Sparrow',
    ]);
  });

  test('of a prefix are those whose ids begin so, in the spelling of the log', () => {
    expect(createRepriceFilters({ ...subject, match: 'prefix', model: 'acme/' }, PREVIEW)).toEqual([
      'provider:eq:together',
      'billing_model:prefix:Acme/',
    ]);
  });

  test('of every id under an alias are those of the alias; what a filter would read is escaped', () => {
    expect(createRepriceFilters({ ...subject, alias: 'a:b', match: 'prefix', model: '' }, PREVIEW)).toEqual([
      'provider:eq:together',
      'provider_alias:eq:a%3Ab',
    ]);
    const arn = { ...subject, provider: 'bedrock', model: 'arn:aws:x/50%,y' };
    expect(createRepriceFilters(arn, { ...PREVIEW, models: [] })).toEqual([
      'provider:eq:bedrock',
      'billing_model:in:arn%3Aaws%3Ax/50%25%2Cy',
    ]);
  });
});

describe('the options of a price', () => {
  test('become rates by usage class', () => {
    expect(readRates({ input: '1.25', cacheRead: '0.1', output: '10', rate: ['cache_creation_1h=2.5'] })).toEqual({
      input: '1.25',
      cache_read: '0.1',
      output: '10',
      cache_creation_1h: '2.5',
    });
  });

  test('are refused when they say nothing, or the same twice', () => {
    expect(() => readRates({ rate: [] })).toThrow(/at least one rate/);
    expect(() => readRates({ input: '1', rate: ['input=2'] })).toThrow('input is given twice');
    expect(() => readRates({ rate: ['output:2'] })).toThrow(/write class=usd/);
    expect(readTokens('--over-tokens', '200000')).toBe(200_000);
    expect(() => readTokens('--over-tokens', '200k')).toThrow('--over-tokens: "200k" is not a number of tokens');
  });
});
