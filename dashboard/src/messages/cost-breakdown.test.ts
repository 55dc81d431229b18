import { expect, test } from 'vitest';
import { describeClass, describeFactor, readCostBreakdown } from './cost-breakdown.ts';

const line = (name: string, quantity: number, amount: string) => ({
  class: name,
  quantity,
  unit: 'token',
  rate: '0.25',
  per: 1_000_000,
  multiplier: '1',
  amount,
  layer: 'catalog',
  row: 'openai/gpt-5-mini',
  rated_as: name,
});

test('the lines add up to the known cost to the last digit', () => {
  const { lines, sum, addsUp, unpriced } = readCostBreakdown({
    cost_lines: [line('input', 1, '0.1'), line('output', 2, '0.2')],
    usage: { input: 1, output: 2, cache_read: 0 },
    known_cost: '0.3',
  });
  expect(lines.map(({ class: name, amount, ratedAs }) => [name, amount, ratedAs])).toEqual([
    ['input', '0.1', null],
    ['output', '0.2', null],
  ]);
  expect({ sum, addsUp, unpriced }).toEqual({ sum: '0.3', addsUp: true, unpriced: [] });
});

test('a class without a price is named, with its quantity', () => {
  const { unpriced, addsUp } = readCostBreakdown({
    cost_lines: [line('input', 1, '0.1')],
    usage: { input: 1, output_audio: 240 },
    known_cost: '0.2',
  });
  expect(unpriced).toEqual([{ class: 'output_audio', quantity: 240 }]);
  expect(addsUp).toBe(false);
  expect(describeClass('output_audio')).toBe('Output, audio');
});

test('lines of any shape do no harm', () => {
  for (const lines of [null, 7, {}, [null, 7, { amount: 'much' }]])
    expect(readCostBreakdown({ cost_lines: lines, usage: null, known_cost: null })).toMatchObject({
      sum: '0',
      addsUp: null,
    });
});

test.each([
  ['0.85', '15 % off'],
  ['0.5', '50 % off'],
  ['0.999999', '0.0001 % off'],
  ['1', ''],
  ['1.1', '10 % more'],
  ['2', '100 % more'],
  ['6', '6 times as much'],
  ['0', 'free'],
  ['0.1 × 3', ''],
])('a factor of %s is "%s"', (factor, words) => {
  expect(describeFactor(factor)).toBe(words);
});
