import { expect, test } from 'vitest';
import { readStem } from './fold-repeats.ts';

test.each([
  ['search 1', 'search'],
  ['search#2', 'search'],
  ['search[3]', 'search'],
  ['step-12', 'step'],
  ['round_7', 'round'],
  ['iteration (4)', 'iteration'],
  ['42', ''],
  ['v2 beta', null],
  ['search', null],
])('the stem of %j is %j', (name, stem) => {
  expect(readStem(name)).toBe(stem);
});

test('a long name is read in one pass', () => {
  expect(readStem(`${'('.repeat(5_000)}x`)).toBe(null);
  expect(readStem(`${'1('.repeat(2_500)}x`)).toBe(null);
});
