import { expect, test } from 'vitest';
import { readRepriceQuestion } from './read-reprice-question.ts';

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
