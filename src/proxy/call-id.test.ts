import { expect, test } from 'vitest';
import { createCallIds } from './call-id.ts';

test('ids are UUIDv7 with the millisecond of their making', () => {
  const { id, timeMs } = createCallIds(() => 0x0123456789ab)();
  expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(timeMs).toBe(0x0123456789ab);
});

test('ids ascend within a millisecond, over draws of random bytes, and when the clock steps back', () => {
  const clock = [1_000, 1_000, 1_000, 5_000, 2_000, 2_000, 5_001];
  let step = 0;
  const next = createCallIds(() => clock[Math.min(Math.floor(step++ / 100), clock.length - 1)] ?? 0);
  const ids = Array.from({ length: 700 }, () => next().id);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(700);
});

test('after a large step back ids have the time of the clock again, and are still all different', () => {
  const clock = [90_000_000, 90_000_000, 3_600_000, 3_600_000, 3_600_001];
  let step = 0;
  const next = createCallIds(() => clock[step++] ?? 0);
  const calls = Array.from({ length: 5 }, () => next());
  expect(calls.map(({ timeMs }) => timeMs)).toEqual([90_000_000, 90_000_000, 3_600_000, 3_600_000, 3_600_001]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(5);
});
