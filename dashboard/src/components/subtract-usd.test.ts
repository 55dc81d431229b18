import { expect, test } from 'vitest';
import { subtractUsd } from './subtract-usd.ts';

test('a difference is exact and has its sign', () => {
  expect(subtractUsd('0.3', '0.1')).toBe('0.2');
  expect(subtractUsd('0.1', '0.3')).toBe('-0.2');
  expect(subtractUsd('3000000000.000000000001', '3000000000')).toBe('0.000000000001');
  expect(subtractUsd('1.50', '1.5')).toBe('0');
});

test('with an amount that is not known there is no difference', () => {
  expect(subtractUsd(null, '1')).toBeNull();
  expect(subtractUsd('1', null)).toBeNull();
});
