import { expect, test } from 'vitest';
import { describeRepriceInput, readRepriceOutcome, readRepriceQuestion } from './reprice-job.ts';

test('what is applied is what the dry run was asked', () => {
  const input = {
    from: '2026-11-01T00:00:00.000Z',
    to: null,
    filters: ['provider:eq:openai'],
    model: 'house-1',
    only: 'all',
    reason: '',
    dry_run: true,
  };
  expect(readRepriceQuestion({ input })).toEqual({
    from: '2026-11-01T00:00:00.000Z',
    to: null,
    f: ['provider:eq:openai'],
    model: 'house-1',
    only: 'all',
  });
});

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

test('a re-pricing tells why it was asked for and for which calls', () => {
  const input = {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-28T11:33:46.549Z',
    filters: ['provider:eq:bedrock'],
    model: 'nova-lite',
    only: 'all',
    reason: 'contract of 2026',
    asked_by: 'admin token, as stated by ada@ledger',
    dry_run: false,
  };
  expect(describeRepriceInput({ input })).toEqual([
    '“contract of 2026”',
    'by admin token, as stated by ada@ledger',
    'provider = bedrock',
    'model = nova-lite',
    'from 2026-11-01 00:00 until 2026-11-28 11:33 UTC',
  ]);
  const plain = { ...input, from: null, model: null, filters: [], reason: '', asked_by: null };
  expect(describeRepriceInput({ input: plain })).toEqual(['until 2026-11-28 11:33 UTC']);
});

test('a dry run of everything has nothing to tell', () => {
  const input = { from: null, to: null, filters: [], model: null, only: 'all', reason: '', dry_run: true };
  expect(describeRepriceInput({ input })).toEqual([]);
});
