import { expect, test } from 'vitest';
import { readRepriceOutcome } from './reprice-outcome.ts';

const RESULT = {
  dry_run: true,
  calls: 12,
  changed: 3,
  old_cost: '0',
  new_cost: '0.00039',
  old_unpriced: 3,
  new_unpriced: 0,
  price_versions: ['a'],
};

test('the result of a finished re-pricing is read with its sums as text', () => {
  expect(readRepriceOutcome({ kind: 'reprice', result: RESULT })).toEqual({
    dry_run: true,
    calls: 12,
    changed: 3,
    old_cost: '0',
    new_cost: '0.00039',
    old_unpriced: 3,
    new_unpriced: 0,
  });
});

test('other jobs, jobs that are not done and results of another shape have none', () => {
  expect(readRepriceOutcome({ kind: 'promote_metadata', result: RESULT })).toBeNull();
  expect(readRepriceOutcome({ kind: 'reprice', result: null })).toBeNull();
  expect(readRepriceOutcome({ kind: 'reprice', result: { ...RESULT, old_cost: 1 } })).toBeNull();
});
