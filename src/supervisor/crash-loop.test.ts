import { expect, test } from 'vitest';
import { createCrashLoop } from './crash-loop.ts';

test('five ends within five minutes are a crash loop, until the first of them is older', () => {
  const loop = createCrashLoop();
  for (const atMs of [0, 60_000, 120_000, 180_000]) loop.ended(atMs);
  expect(loop.isLooping(180_000)).toBe(false);
  loop.ended(240_000);
  expect([loop.recentExits(240_000), loop.isLooping(240_000)]).toEqual([5, true]);
  expect([loop.recentExits(300_000), loop.isLooping(300_000)]).toEqual([4, false]);
  expect(loop.recentExits(1_000_000)).toBe(0);
});

test('the first five ends are told each, the later ones once a minute', () => {
  const loop = createCrashLoop();
  const told = [0, 1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 64_000, 65_000].filter((atMs) => loop.ended(atMs));
  expect(told).toEqual([0, 1_000, 2_000, 3_000, 4_000, 64_000]);
});
