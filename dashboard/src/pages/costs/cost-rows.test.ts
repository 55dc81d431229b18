import { expect, test } from 'vitest';
import type { CostSums, Costs } from '../../api/costs.ts';
import { csvFileName, formatCostCsv } from './cost-csv.ts';
import { averageOf, buildRows, shareOf } from './cost-rows.ts';

const SUMS: CostSums = {
  calls: 3,
  errors: 1,
  client_closed_calls: 0,
  unpriced_calls: 1,
  total_cost: '0.1',
  input_tokens: 10,
  cache_read_input_tokens: 20,
  cache_creation_input_tokens: 30,
  output_tokens: 40,
  reasoning_tokens: 5,
};

const COSTS: Costs = {
  from: '2026-11-20T00:00:00.000Z',
  to: '2026-11-27T00:00:00.000Z',
  tz: 'UTC',
  interval: 'day',
  totals: { ...SUMS, total_cost: '0.4', calls: 12 },
  data: [{ ...SUMS, group: ['=cmd|x', null], buckets: [] }],
  rest: { ...SUMS, total_cost: '0.3', calls: 9, groups: 2, buckets: null },
  bucket_starts: [],
  source: 'hourly',
  searched_to: null,
};

test('an average is divided in whole pico-dollars and rounded once', () => {
  const average = (total_cost: string, calls: number) => averageOf({ ...SUMS, total_cost, calls, unpriced_calls: 0 });
  expect(average('0.1', 3)).toBe('0.033333333333');
  expect(average('0.2', 3)).toBe('0.066666666667');
  expect(average('0', 5)).toBe('0');
  expect(average('1', 0)).toBeNull();
});

test('the average of a lower bound is never rounded up', () => {
  expect(averageOf({ ...SUMS, total_cost: '0.2', calls: 3, unpriced_calls: 1 })).toBe('0.066666666666');
  expect(averageOf({ ...SUMS, total_cost: '-0.1', calls: 3, unpriced_calls: 1 })).toBe('-0.033333333334');
});

test('there is no share of nothing', () => {
  expect(shareOf('0', '0')).toBeNull();
  expect(shareOf('123456789012.000000000003', '370370367036.000000000009')).toBe(0.333333);
});

test('the rest is a row without a way to its calls', () => {
  const rows = buildRows(COSTS, ['metadata.Team', 'provider'], new Map());
  expect(rows.map(({ names, filters, share }) => ({ names, filters, share }))).toEqual([
    { names: ['=cmd|x', '(not set)'], filters: ['metadata.Team:eq:=cmd|x', 'provider:nohas'], share: 0.25 },
    { names: ['Other (2 groups)'], filters: null, share: 0.75 },
  ]);
});

test('the file has exact figures, and no value is a formula', () => {
  const by = ['metadata.Team', 'provider'];
  const text = formatCostCsv(['Team', 'Provider'], buildRows(COSTS, by, new Map()), COSTS.totals);
  expect(text.split('\n')).toEqual([
    'Team,Provider,total_cost,calls,errors,client_closed_calls,unpriced_calls,input_tokens,cache_read_input_tokens,cache_creation_input_tokens,output_tokens,reasoning_tokens,average_cost',
    "'=cmd|x,(not set),0.1,3,1,0,1,10,20,30,40,5,0.033333333333",
    'Other (2 groups),,0.3,9,1,0,1,10,20,30,40,5,0.033333333333',
    'Total,,0.4,12,1,0,1,10,20,30,40,5,',
    '',
  ]);
  expect(csvFileName(['metadata.Te/am', 'key'], COSTS.from, COSTS.to)).toBe(
    'costs-by-metadata.Te-am-key-2026-11-20-2026-11-27.csv',
  );
});
