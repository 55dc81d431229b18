import { expect, test } from 'vitest';
import { PATTERNS, seriesLook, seriesLooks } from './series-look.ts';

test('a name has the same colour wherever and with whomever it is drawn', () => {
  const [alone] = seriesLooks(['gpt-4o']);
  const among = seriesLooks(['a', 'b', 'c', 'gpt-4o', 'd'])[3];
  expect(alone?.colour).toBe(among?.colour);
  expect(alone).toEqual(seriesLook('gpt-4o'));
  expect(seriesLook('gpt-4o').colour).toMatch(/^--series-[1-8]$/);
});

test('of thirty series no two of one colour share a pattern while patterns are left', () => {
  const looks = seriesLooks(Array.from({ length: 30 }, (_, number) => `model-${number}`));
  for (const own of Map.groupBy(looks, ({ colour }) => colour).values()) {
    const patterns = new Set(own.map(({ pattern }) => pattern));
    expect(patterns.size).toBe(Math.min(own.length, PATTERNS.length));
  }
});
