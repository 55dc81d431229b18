import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../../../src/vocabulary/usd.ts';
import type { CostGroup, CostSums, Costs } from '../../api/costs.ts';
import { buildRows } from './cost-rows.ts';
import { addUp, buildSeries } from './cost-series.ts';

const STARTS = ['2026-11-26T00:00:00.000Z', '2026-11-27T00:00:00.000Z'];

function sums(cost: string, calls: number, unpriced = 0): CostSums {
  return {
    calls,
    errors: 0,
    client_closed_calls: 0,
    unpriced_calls: unpriced,
    total_cost: cost,
    input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    output_tokens: 0,
    reasoning_tokens: 0,
  };
}

/** All of it in the second bucket. */
function row(value: string | null, cost: string, calls = 1): CostGroup {
  return {
    ...sums(cost, calls),
    group: [value],
    buckets: [{ start: STARTS[1] ?? '', total_cost: cost, calls, unpriced_calls: 0 }],
  };
}

function answer(data: CostGroup[], rest: Costs['rest'] = null): Costs {
  return {
    from: '2026-11-26T06:00:00.000Z',
    to: '2026-11-28T00:00:00.000Z',
    tz: 'UTC',
    interval: 'day',
    totals: sums('0', 0),
    data,
    rest,
    bucket_starts: [...STARTS],
    source: 'records',
    searched_to: null,
  };
}

const NO_NAMES = new Map<string, string>();
const few = Array.from({ length: 11 }, (_, number) => row(`m${number}`, '1'));
const many = Array.from({ length: 13 }, (_, number) => row(`m${number}`, '0.1'));

test('a bucket without calls is nothing, not missing', () => {
  const [series] = buildSeries(answer([row('gpt-4o', '0.000000000001', 3)]), ['model'], NO_NAMES);
  expect(series?.buckets).toEqual([
    { cost: 0n, calls: 0, unpricedCalls: 0 },
    { cost: 1n, calls: 3, unpricedCalls: 0 },
  ]);
});

test('one group alone is never folded away', () => {
  expect(buildSeries(answer(few), ['model'], NO_NAMES).map(({ name }) => name)).not.toContain('Other (1)');
});

test('groups beyond the tenth and the rest of the server are Other, to the last digit', () => {
  const rest = { ...sums('0.05', 7), groups: 40, buckets: row('', '0.05', 7).buckets };
  const other = buildSeries(answer(many, rest), ['model'], NO_NAMES).at(-1);
  expect(other?.name).toBe('Other (43)');
  expect(formatUsd(other?.total.cost ?? 0n)).toBe('0.35');
  expect(other?.total.calls).toBe(10);
});

test('not set is drawn also when it is the smallest', () => {
  const series = buildSeries(answer([...many, row(null, '0')]), ['metadata.Feature'], NO_NAMES);
  expect(series.map(({ name }) => name).slice(-2)).toEqual(['(not set)', 'Other (3)']);
});

test('calls of no step have the same name beside the drawing as in the table', () => {
  const costs = answer([row(null, '1'), row('plan', '2')]);
  expect(buildSeries(costs, ['span_path'], NO_NAMES).map(({ name }) => name)).toEqual(['(no step)', 'plan']);
  expect(buildRows(costs, ['span_path'], NO_NAMES).map(({ names }) => names)).toEqual([['(no step)'], ['plan']]);
});

test('a value that reads like "not set" is another series', () => {
  const [a, b] = buildSeries(answer([row(null, '1'), row('(not set)', '1')]), ['metadata.Feature'], NO_NAMES);
  expect(a?.key).not.toBe(b?.key);
});

test('the series add up to the groups and the rest', () => {
  const money = fc.bigInt({ min: 0n, max: 10n ** 15n }).map(formatUsd);
  fc.assert(
    fc.property(fc.array(money, { maxLength: 40 }), money, (costs, restCost) => {
      const rest = { ...sums(restCost, 1), groups: 2, buckets: row('', restCost).buckets };
      const series = buildSeries(
        answer(
          costs.map((cost, n) => row(`v${n}`, cost)),
          rest,
        ),
        ['model'],
        NO_NAMES,
      );
      const expected = [...costs, restCost].reduce((sum, cost) => sum + parseUsd(cost), 0n);
      expect(addUp(series.map(({ total }) => total)).cost).toBe(expected);
    }),
  );
});
