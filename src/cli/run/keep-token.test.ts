import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { keepToken } from './keep-token.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a token is renewed every five minutes, sooner after a failure, at once after a sleep, and not any more once stopped', async () => {
  let nowMs = 0;
  let isDown = false;
  const renewedMs: number[] = [];
  const stop = keepToken({
    nowMs: () => nowMs,
    renew: async () => {
      renewedMs.push(nowMs);
      if (isDown) throw new Error('away');
    },
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      nowMs += 1_000;
      await vi.advanceTimersByTimeAsync(1_000);
    }
  };
  await pass(610_000);
  expect(renewedMs).toEqual([300_000, 600_000]);
  isDown = true;
  await pass(320_000);
  expect(renewedMs.slice(2)).toEqual([900_000, 920_000]);
  isDown = false;
  // Asleep: the clock goes on, timers do not.
  nowMs += 3_600_000;
  await pass(2_000);
  expect(renewedMs.at(-1)).toBe(4_532_000);
  stop();
  await pass(900_000);
  expect(renewedMs.at(-1)).toBe(4_532_000);
});
