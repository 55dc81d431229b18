import { expect, test } from 'vitest';
import { describeRepriceInput } from './describe-reprice-input.ts';

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
