import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  describeGroup,
  formatGroupBy,
  groupFilters,
  groupKey,
  isDimension,
  listDimensions,
  nameKeys,
} from './dimensions.ts';

test('a metadata key may have commas and percent signs; each dimension stays one', () => {
  expect(formatGroupBy(['model', 'metadata.A,b%'])).toBe('model,metadata.A%2Cb%25');
});

test('only known columns and metadata keys are dimensions', () => {
  expect(['model', 'metadata.Feature', 'metadata.', 'password', ''].filter(isDimension)).toEqual([
    'model',
    'metadata.Feature',
  ]);
});

test('a group is found by its values, a missing one by its absence', () => {
  expect(groupFilters(['key', 'metadata.Feature'], ['3', null])).toEqual(['key_id:eq:3', 'metadata.Feature:nohas']);
  expect(groupFilters(['model'], [null])).toEqual(['any_model:nohas']);
  // Also the calls that ended without an answer, which are counted under the model they asked for.
  expect(groupFilters(['model'], ['gpt-5'])).toEqual(['any_model:eq:gpt-5']);
});

test('a value that the server cut is found by its beginning, counted in characters', () => {
  const cut = '😀'.repeat(200);
  expect(groupFilters(['metadata.Feature'], [cut])).toEqual([`metadata.Feature:prefix:${cut}`]);
  expect(groupFilters(['metadata.Feature'], ['😀'.repeat(199)])[0]).toMatch(/^metadata\.Feature:eq:/);
});

test('keys are called by name, and by their number too when a name is shared', () => {
  const names = nameKeys([
    { id: 1, name: 'web' },
    { id: 2, name: 'batch' },
    { id: 3, name: 'web' },
  ]);
  expect(describeGroup(['key'], ['1'], names)).toEqual(['web (key 1)']);
  expect(describeGroup(['key'], ['2'], names)).toEqual(['batch']);
  expect(describeGroup(['key'], ['9'], names)).toEqual(['key 9']);
  expect(describeGroup(['metadata.Feature'], [null], names)).toEqual(['(not set)']);
  expect(describeGroup(['span_path', 'span_path'], ['search/search%204', null], names)).toEqual([
    'search / search 4',
    '(no step)',
  ]);
  expect(describeGroup(['span_path'], ['search/search%2'], names)).toEqual(['search/search%2']);
});

test('the current key can be chosen although it has not been seen lately, and once only whatever its case', () => {
  const ids = (current: readonly string[]) => listDimensions(['Feature'], current).map(({ id }) => id);
  expect(ids(['metadata.Old']).slice(-2)).toEqual(['metadata.Feature', 'metadata.Old']);
  expect(ids(['metadata.feature']).at(-1)).toBe('metadata.Feature');
});

test('no two groups share a key', () => {
  const value = fc.option(fc.string({ unit: fc.constantFrom('=', '-', '|', '%', 'a', ' ') }));
  fc.assert(
    fc.property(fc.tuple(value, value), fc.tuple(value, value), (a, b) => {
      expect(groupKey(a) === groupKey(b)).toBe(a[0] === b[0] && a[1] === b[1]);
    }),
  );
  expect(groupKey(['\ud800'])).toBe('=%EF%BF%BD');
});
