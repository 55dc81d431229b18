import { expect, test } from 'vitest';
import { readTokenCounts } from './read-token-counts.ts';

test('whole numbers are read with or without separators; an empty field counts nothing', () => {
  expect(readTokenCounts({ input: ' 12,000 ', cache_read: '', output: '4294967296' })).toEqual({
    counts: { input: 12_000, output: 4_294_967_296 },
    problems: {},
  });
});

test('what is no whole number is said at its field', () => {
  expect(readTokenCounts({ input: '1.5', output: '1e6' }).problems).toEqual({
    input: 'Write a whole number.',
    output: 'Write a whole number.',
  });
});
