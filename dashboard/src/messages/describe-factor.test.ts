import { expect, test } from 'vitest';
import { describeFactor } from './describe-factor.ts';

test.each([
  ['0.85', '15 % off'],
  ['0.5', '50 % off'],
  ['0.999999', '0.0001 % off'],
  ['1', ''],
  ['1.1', '10 % more'],
  ['2', '100 % more'],
  ['6', '6 times as much'],
  ['0', 'free'],
  ['0.1 × 3', ''],
])('a factor of %s is "%s"', (factor, words) => {
  expect(describeFactor(factor)).toBe(words);
});
