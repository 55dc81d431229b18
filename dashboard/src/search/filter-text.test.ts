import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  changeFilters,
  describeFilter,
  filterByValue,
  formatFilter,
  parseFilter,
  toggleFilter,
} from './filter-text.ts';

test('commas, colons and percent signs of a value survive the text form', () => {
  expect(formatFilter({ field: 'metadata.A:b', op: 'eq', values: ['50%,x:y'] })).toBe(
    'metadata.A%3Ab:eq:50%25%2Cx%3Ay',
  );
  fc.assert(
    fc.property(fc.string(), fc.array(fc.string(), { minLength: 1 }), (key, values) => {
      const filter = { field: `metadata.${key}`, op: 'in', values };
      expect(parseFilter(formatFilter(filter))).toEqual(filter);
    }),
  );
});

test('a filter reads like a sentence', () => {
  expect(describeFilter('metadata.Feature:eq:checkout')).toBe('Feature = checkout');
  expect(describeFilter('trace_id:nohas')).toBe('trace id is not set');
  expect(describeFilter('any_model:eq:gpt-5')).toBe('model or requested model = gpt-5');
  expect(describeFilter('status:in:429,500')).toBe('status is one of 429, 500');
});

test('a value that is not set is filtered by that', () => {
  expect(filterByValue('metadata.Feature', null)).toBe('metadata.Feature:nohas');
  expect(filterByValue('model', 'gpt-4o', false)).toBe('model:ne:gpt-4o');
});

test('the same filter twice is taken out', () => {
  expect(toggleFilter(['a:has'], 'b:has')).toEqual(['a:has', 'b:has']);
  expect(toggleFilter(['a:has', 'b:has'], 'a:has')).toEqual(['b:has']);
});

test('the same filter again takes it out, its opposite gives way', () => {
  expect(changeFilters(['model:eq:a'], 'model:eq:a')).toEqual([]);
  expect(changeFilters(['model:eq:a', 'status:eq:200'], 'model:ne:a')).toEqual(['status:eq:200', 'model:ne:a']);
  expect(changeFilters(['model:eq:a'], 'model:ne:b')).toEqual(['model:eq:a', 'model:ne:b']);
  expect(changeFilters(['trace_id:has'], 'trace_id:nohas')).toEqual(['trace_id:nohas']);
});
