import { expect, test } from 'vitest';
import { parseSearch } from '../../search/search-params.ts';
import { changeControl, readCostsSearch } from './costs-search.ts';

const read = (text: string) =>
  Object.fromEntries(Object.entries(readCostsSearch(parseSearch(text))).filter(([, value]) => value !== undefined));

test('an address says what is grouped, how, and over which time', () => {
  expect(read('?by=metadata.Feature&by2=model&interval=week&limit=50&range=30d&f=provider:eq:openai')).toEqual({
    by: 'metadata.Feature',
    by2: 'model',
    interval: 'week',
    limit: 50,
    range: '30d',
    f: ['provider:eq:openai'],
  });
});

test('what cannot be read is left out', () => {
  expect(read('?by=secret&by2=&interval=eon&limit=7&metric=tears&view=pie')).toEqual({});
});

test('the same dimension twice is one, also when the first is the usual one', () => {
  expect(read('?by2=model')).toEqual({});
  expect(read('?by=key&by2=key')).toEqual({ by: 'key' });
});

test('two controls before the page shows the first are both chosen, and what was isolated is let go', () => {
  const changes: readonly Readonly<Record<string, unknown>>[] = [{ by: 'provider' }, { by2: 'model' }, { limit: '50' }];
  expect(changes.reduce(changeControl, { only: '=gpt-5', range: '30d' })).toMatchObject({
    by: 'provider',
    by2: 'model',
    limit: 50,
    range: '30d',
    only: undefined,
  });
});
