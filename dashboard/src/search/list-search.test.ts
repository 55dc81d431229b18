import { expect, test } from 'vitest';
import { readWindowSearch } from './list-search.ts';

test('a time without a zone in an address is UTC: the address says the same to everybody', () => {
  expect(readWindowSearch({ from: '2026-11-20T14:00', to: '2026-11-21 14:00' })).toEqual({
    range: undefined,
    from: '2026-11-20T14:00:00.000Z',
    to: '2026-11-21T14:00:00.000Z',
  });
});

test('a date, and a time with a zone, stay as they are written, and what is no time is left out', () => {
  for (const from of ['2026-11-20', '2026-11-20T00:00:00Z', '2026-11-20T00:00:00+01:00'])
    expect(readWindowSearch({ from, to: 'soon' })).toEqual({ range: undefined, from, to: undefined });
});
