import { expect, test } from 'vitest';
import { addFilter, changeFilters } from './filter-text.ts';
import type { ListSearch } from './list-search.ts';
import { applyChange, changeOfFilters } from './search-change.ts';

test('two clicks on facets before the page shows the first are two filters', () => {
  const clicks = ['model:eq:a', 'outcome:eq:ok'].map((filter) =>
    changeOfFilters((before) => changeFilters(before, filter)),
  );
  const search: ListSearch = { q: 'rain' };
  expect(clicks.reduce<ListSearch>(applyChange, search)).toEqual({ q: 'rain', f: ['model:eq:a', 'outcome:eq:ok'] });
});

test('without a filter there is none in the address', () => {
  const search: ListSearch = { f: ['model:eq:a'] };
  expect(
    applyChange(
      search,
      changeOfFilters((before) => changeFilters(before, 'model:eq:a')),
    ),
  ).toEqual({
    f: undefined,
  });
  expect(
    applyChange(
      search,
      changeOfFilters(() => []),
    ),
  ).toEqual({ f: undefined });
});

test('a filter that is added again stands once', () => {
  expect(addFilter(['a:has', 'b:has'], 'a:has')).toEqual(['b:has', 'a:has']);
});
