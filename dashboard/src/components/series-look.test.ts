import { expect, test } from 'vitest';
import { PATTERNS, seriesLook, seriesLooks } from './series-look.ts';

test('a name that is drawn alone always has the same look', () => {
  expect(seriesLooks(['gpt-4o'])).toEqual([seriesLook('gpt-4o')]);
  expect(seriesLook('gpt-4o').colour).toMatch(/^--series-[1-8]$/);
});

test('up to eight series have eight colours', () => {
  const looks = seriesLooks(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
  expect(new Set(looks.map(({ colour }) => colour)).size).toBe(8);
});

test('of thirty series no two of one colour share a pattern while patterns are left', () => {
  const looks = seriesLooks(Array.from({ length: 30 }, (_, number) => `model-${number}`));
  for (const own of Map.groupBy(looks, ({ colour }) => colour).values()) {
    const patterns = new Set(own.map(({ pattern }) => pattern));
    expect(patterns.size).toBe(Math.min(own.length, PATTERNS.length));
  }
});
