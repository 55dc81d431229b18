import { setTimeout as sleep } from 'node:timers/promises';
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
  let rounds = 0;
  do {
    kept = Array.from({ length: 50_000 }, (_, index) => ({ index, rounds }));
    rounds += 1;
  } while (rounds < 400 && readYoungBytes() < 8 * MB);
  expect(kept).toHaveLength(50_000);
}

async function untilGivenBack(): Promise<void> {
  for (let looks = 0; looks < 500 && readYoungBytes() >= 4 * MB; looks += 1) await sleep(20);
  expect(readYoungBytes()).toBeLessThan(4 * MB);
}

test('the room of young objects is given back ten seconds after the start, and again in a later minute of rest', async () => {
  returnMemoryAtRest();
  fillYoungSpace();
  expect(readYoungBytes()).toBeGreaterThanOrEqual(8 * MB);
  vi.advanceTimersByTime(10_000);
  await untilGivenBack();

  vi.advanceTimersByTime(60_000);
  fillYoungSpace();
  expect(readYoungBytes()).toBeGreaterThanOrEqual(8 * MB);
  vi.advanceTimersByTime(60_000);
  await untilGivenBack();
});
