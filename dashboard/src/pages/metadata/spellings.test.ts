import { expect, test } from 'vitest';
import { capitalizeKey, listSpellings } from './spellings.ts';

test('a key is written as headers are', () => {
  expect(['feature', 'user-id', 'User-ID', 'x--y', 'étage'].map(capitalizeKey)).toEqual([
    'Feature',
    'User-Id',
    'User-ID',
    'X--Y',
    'Étage',
  ]);
});

test('the present form comes first, then the others by calls, then the usual one', () => {
  const spellings = [
    { spelling: 'user-id', calls: 4 },
    { spelling: 'USER-ID', calls: 9 },
  ];
  expect(listSpellings({ key: 'user-id', spellings })).toEqual([
    { spelling: 'user-id', calls: 4 },
    { spelling: 'USER-ID', calls: 9 },
    { spelling: 'User-Id', calls: 0 },
  ]);
});
