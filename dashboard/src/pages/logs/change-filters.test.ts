import { expect, test } from 'vitest';
import { changeFilters } from './change-filters.ts';

test('the same filter again takes it out, its opposite gives way', () => {
  expect(changeFilters(['model:eq:a'], 'model:eq:a')).toEqual([]);
  expect(changeFilters(['model:eq:a', 'status:eq:200'], 'model:ne:a')).toEqual(['status:eq:200', 'model:ne:a']);
  expect(changeFilters(['model:eq:a'], 'model:ne:b')).toEqual(['model:eq:a', 'model:ne:b']);
  expect(changeFilters(['trace_id:has'], 'trace_id:nohas')).toEqual(['trace_id:nohas']);
});
