import { expect, test } from 'vitest';
import { createBackOff } from './back-off.ts';

test('waits double from a quarter of a second to ten, and begin again after half a minute of life', () => {
  const { next } = createBackOff();
  expect([next(0), next(0), next(0), next(0), next(0), next(0), next(0), next(29_999)]).toEqual([
    250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000,
  ]);
  expect(next(30_000)).toBe(250);
});

test('a limit shortens the wait, and what grows goes on from there', () => {
  const { next } = createBackOff();
  expect([next(0), next(0), next(0), next(0, 1_000), next(0, 1_000), next(0), next(0)]).toEqual([
    250, 500, 1_000, 1_000, 1_000, 2_000, 4_000,
  ]);
});
