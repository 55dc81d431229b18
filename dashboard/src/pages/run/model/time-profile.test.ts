import { expect, test } from 'vitest';
import { ACTIVE, listSegments, PARALLEL, PROFILE_PARTS, readTimeProfile } from './time-profile.ts';

test('time between calls is idle, time of two at once is parallel', () => {
  const profile = readTimeProfile([0, 200, 600], [400, 500, 960]);
  expect([profile.activeMs, profile.callMs, profile.maxParallel]).toEqual([860, 1_060, 2]);
  expect(listSegments(profile.parts)).toEqual([
    { from: 0, to: 20 / PROFILE_PARTS, kind: ACTIVE },
    { from: 20 / PROFILE_PARTS, to: 40 / PROFILE_PARTS, kind: PARALLEL },
    { from: 40 / PROFILE_PARTS, to: 50 / PROFILE_PARTS, kind: ACTIVE },
    { from: 60 / PROFILE_PARTS, to: 1, kind: ACTIVE },
  ]);
});

test('one call after another is never parallel, even when one ends in the millisecond in which the next begins', () => {
  expect(readTimeProfile([0, 100, 200], [100, 200, 300])).toMatchObject({ activeMs: 300, callMs: 300, maxParallel: 1 });
});

test('calls without length leave no trace of parallelism and no time', () => {
  expect(readTimeProfile([5, 5, 5], [5, 5, 5])).toMatchObject({ activeMs: 0, callMs: 0, maxParallel: 1 });
  expect(readTimeProfile([0, 50], [0, 100])).toMatchObject({ activeMs: 50, callMs: 50, maxParallel: 1 });
});

test('a short call in a long step is still seen', () => {
  const { parts } = readTimeProfile([0, 500_000, 999_000], [1_000, 500_001, 1_000_000]);
  expect(listSegments(parts)).toHaveLength(3);
});
