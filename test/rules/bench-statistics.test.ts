import { expect, test } from 'vitest';
import { bootstrapInterval, median } from '../../bench/proxy/statistics.ts';

test('the median of an even number of rounds lies between the middle two', () => {
  expect(median([4, 1, 3])).toBe(3);
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([])).toBeNaN();
});

test('the interval of equal rounds is that value, and it holds the median of unequal ones', () => {
  expect(bootstrapInterval([2, 2, 2])).toEqual({ low: 2, high: 2 });
  const { low, high } = bootstrapInterval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(low).toBeGreaterThanOrEqual(1);
  expect(low).toBeLessThan(5.5);
  expect(high).toBeGreaterThan(5.5);
});
