import { expect, test } from 'vitest';
import type { CostsAnswer } from './costs-answer.ts';
import { formatCosts } from './format-costs.ts';

const SUMS = {
  calls: 1,
  errors: 0,
  unpriced_calls: 0,
  total_cost: '0',
  input_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  output_tokens: 0,
};

const ANSWER: CostsAnswer = {
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-28T12:30:00.000Z',
  tz: 'UTC',
  interval: 'none',
  totals: { ...SUMS, calls: 1_204, errors: 3, unpriced_calls: 2, total_cost: '4', input_tokens: 5_000 },
  data: [
    { ...SUMS, group: ['search', '7'], calls: 1_200, total_cost: '3', input_tokens: 4_000, buckets: null },
    { ...SUMS, group: [null, '8'], calls: 3, errors: 3, unpriced_calls: 2, total_cost: '0.5', buckets: null },
  ],
  rest: { ...SUMS, groups: 12, total_cost: '0.5', input_tokens: 1_000, buckets: null },
};

test('costs are a table of groups, the rest and the total, with what is not priced as "at least"', () => {
  expect(formatCosts(ANSWER, ['metadata.Feature', 'key'], new Map([['7', 'nightly']]))).toEqual([
    'Costs from 2026-11-01 00:00 to 2026-11-28 12:30 (UTC)',
    'metadata.Feature  key             cost    share  calls  unpriced  errors    in  out',
    'search            nightly (7)    $3.00   75.0 %   1.2k                    4.0k    0',
    '(not set)         8            ≥ $0.50   12.5 %      3         2       3     0    0',
    '(12 others)                      $0.50   12.5 %      1                    1.0k    0',
    'total                          ≥ $4.00  100.0 %   1.2k         2       3  5.0k    0',
    '≥: at least, as the cost of some calls is not wholly known. `tollgate costs unpriced` lists those without a price; the others did not report all they used.',
  ]);
});

test('a name that no call has is told from one that some calls lack', () => {
  const answer: CostsAnswer = {
    ...ANSWER,
    rest: null,
    totals: { ...SUMS },
    data: [{ ...SUMS, group: [null], buckets: null }],
  };
  expect(formatCosts(answer, ['metadata.modle'], new Map()).at(-1)).toBe(
    'None of these calls has the metadata key "modle"; what else costs can be grouped by: model, provider, key, endpoint, outcome, span_path, span_name, trace_id, client.',
  );
  expect(formatCosts(answer, ['span_path'], new Map()).at(-1)).toMatch(/^total/);
});

test('with an interval the rows are buckets by the clocks of the zone, groups in their order within each', () => {
  const bucket = (start: string, total_cost: string) => ({ start, total_cost, calls: 1, unpriced_calls: 0 });
  const answer: CostsAnswer = {
    ...ANSWER,
    tz: 'Europe/Berlin',
    interval: 'day',
    totals: { ...SUMS, calls: 4, total_cost: '4' },
    data: [
      {
        ...SUMS,
        group: ['a\u001b[31m'],
        buckets: [bucket('2026-11-01T23:00:00.000Z', '1'), bucket('2026-11-02T23:00:00.000Z', '1.5')],
      },
      { ...SUMS, group: [''], buckets: [bucket('2026-11-01T23:00:00.000Z', '1')] },
    ],
    rest: { ...SUMS, groups: 2, buckets: [bucket('2026-11-01T23:00:00.000Z', '0.5')] },
  };
  expect(formatCosts(answer, ['model'], new Map()).slice(1)).toEqual([
    'day               model        cost    share  calls  unpriced',
    '2026-11-02 00:00  a\\x1b[31m   $1.00   25.0 %      1',
    '2026-11-02 00:00  ""          $1.00   25.0 %      1',
    '2026-11-02 00:00  (2 others)  $0.50   12.5 %      1',
    '2026-11-03 00:00  a\\x1b[31m   $1.50   37.5 %      1',
    'total                         $4.00  100.0 %      4',
  ]);
});

test('of costs that are all zero there are no shares', () => {
  const free: CostsAnswer = { ...ANSWER, totals: SUMS, data: [{ ...SUMS, group: ['x'], buckets: null }], rest: null };
  expect(formatCosts(free, ['model'], new Map())[2]).toBe('x      $0.00      —      1                     0    0');
});
