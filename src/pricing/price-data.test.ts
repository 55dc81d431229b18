import { describe, expect, it } from 'vitest';
import { OVERLAY_DATA } from './overlay-data.ts';
import { parsePriceData, readSourced } from './price-data.ts';

const FILE = {
  provider: 'together',
  sources: { list: { title: 'Acme, price list', checked: '2026-11-29' } },
  hours: {},
  prices: [{ models: ['acme/sparrow-7b'], rates: { input: '0.6', output: '1.2' }, source: 'list' }],
  multipliers: [],
  derived: [],
  aliases: [],
  withoutPrice: [],
  settled: [],
};

const withRow = (row: Record<string, unknown>) => ({ ...FILE, prices: [{ ...FILE.prices[0], ...row }] });

describe('a file of price data', () => {
  it('gives a row the name of its first model, and the title and day of its source', () => {
    const data = parsePriceData('together.json', withRow({ from: '2026-09-01', until: '2026-10-01T04:00:00Z' }));
    expect(data.prices.map((price) => readSourced(data, price))).toEqual([
      {
        name: 'together/acme/sparrow-7b',
        provider: 'together',
        match: { equals: 'acme/sparrow-7b' },
        from: '2026-09-01T00:00:00Z',
        to: '2026-10-01T04:00:00Z',
        source: 'Acme, price list',
        checkedOn: '2026-11-29',
      },
    ]);
  });

  it('may name several models, with their dated snapshots', () => {
    const data = parsePriceData('together.json', withRow({ models: ['a.b', 'c'], snapshots: true }));
    expect(data.prices.map((price) => readSourced(data, price).match)).toEqual([
      { or: [{ regex: '^a\\.b(-\\d{4}-?\\d{2}-?\\d{2})?$' }, { regex: '^c(-\\d{4}-?\\d{2}-?\\d{2})?$' }] },
    ]);
  });

  it.each([
    ['a rate that is a number', { rates: { input: 0.6 } }, 'prices.0.rates.input: '],
    ['a rate with an exponent', { rates: { input: '6e-7' } }, 'prices.0.rates.input: is no plain decimal'],
    ['a class that is none', { rates: { inputs: '0.6' } }, 'prices.0.rates'],
    ['no rate at all', { rates: {} }, 'prices.0.rates: has no rate'],
    ['a misspelt field', { untill: '2026-10-01' }, 'prices.0: '],
    ['two ways to say which models', { pattern: '^acme/' }, 'prices.0: says its ids in one of'],
    [
      'a pattern that is no expression',
      { models: undefined, pattern: '(' },
      'prices.0.pattern: is no regular expression',
    ],
    ['a date that is none', { from: '1 September' }, 'prices.0.from: '],
    ['a source that is not listed', { source: 'lost' }, 'prices, acme/sparrow-7b: no source is named "lost"'],
    ['hours that are not listed', { hours: 'lost' }, 'prices, acme/sparrow-7b: no hours are named "lost"'],
  ])('is refused with %s, in a line that says where', (_, row, problem) => {
    expect(() => parsePriceData('together.json', withRow(row))).toThrow(`price data together.json: ${problem}`);
  });

  it.each(OVERLAY_DATA)('has no source and no hours that no row of $provider names', (data) => {
    const { prices, multipliers, derived, aliases, withoutPrice, settled } = data;
    const rows = [...prices, ...multipliers, ...derived, ...aliases, ...withoutPrice, ...settled];
    const named = new Set(rows.map(({ source }) => source));
    const kept = new Set(prices.map(({ hours }) => hours));
    expect(Object.keys(data.sources).filter((source) => !named.has(source))).toEqual([]);
    expect(Object.keys(data.hours).filter((hours) => !kept.has(hours))).toEqual([]);
  });

  it('is of the form for each of the seven providers', () => {
    expect(OVERLAY_DATA.map(({ provider }) => provider)).toEqual([
      'openai',
      'anthropic',
      'gemini',
      'bedrock',
      'fireworks',
      'together',
      'deepseek',
    ]);
  });
});
