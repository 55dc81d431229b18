import { getHeapSpaceStatistics } from 'node:v8';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { returnMemoryAtRest } from './return-memory.ts';

const MB = 1024 * 1024;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function readYoungBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.physical_space_size ?? 0;
}

/** V8 makes room for young objects when many of them outlive a collection. */
function fillYoungSpace(): void {
  let kept: object[] = [];
  for (let round = 0; round < 400 && readYoungBytes() < 8 * MB; round += 1) {
    kept = Array.from({ length: 50_000 }, (_, index) => ({ index, round }));
  }
  expect(kept).toHaveLength(50_000);
}

test('the room of young objects is given back ten seconds after the start, and again in a later minute of rest', () => {
  returnMemoryAtRest();
  fillYoungSpace();
  expect(readYoungBytes()).toBeGreaterThanOrEqual(8 * MB);
  vi.advanceTimersByTime(10_000);
  expect(readYoungBytes()).toBeLessThan(2 * MB);

  vi.advanceTimersByTime(60_000);
  fillYoungSpace();
  expect(readYoungBytes()).toBeGreaterThanOrEqual(8 * MB);
  vi.advanceTimersByTime(60_000);
  expect(readYoungBytes()).toBeLessThan(2 * MB);
});
