import { expect, test } from 'vitest';
import { chunkRows, nextChunkRows } from './chunk-rows.ts';

test('a chunk that failed is tried with a quarter of its rows, down to one', () => {
  expect([0, 1, 2, 3, 4, 5].map((failures) => chunkRows(500, failures, 2_500))).toEqual([500, 125, 31, 8, 2, 1]);
});

test('the next chunk takes about 300 ms, at most twice as many rows', () => {
  expect(nextChunkRows(500, 600, 2_500)).toBe(250);
  expect(nextChunkRows(500, 10, 2_500)).toBe(1_000);
  expect(nextChunkRows(2_000, 10, 2_500)).toBe(2_500);
});

test('it has at least a hundred, unless so many would take long', () => {
  expect(nextChunkRows(500, 5_000, 2_500)).toBe(100);
  expect(nextChunkRows(31, 2_000, 2_500)).toBe(62);
  expect(nextChunkRows(31, 16_000, 2_500)).toBe(31);
});
