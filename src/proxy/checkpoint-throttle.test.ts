import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { NOTHING_REPORTED } from '../formats/usage/reported-usage.ts';
import { CheckpointThrottle } from './checkpoint-throttle.ts';

const UNDER_WAY = { ...NOTHING_REPORTED, terminal: false };
const ENDING = { ...NOTHING_REPORTED, terminal: true };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function paceAfter(checkpoints: number): CheckpointThrottle {
  const throttle = new CheckpointThrottle();
  for (let count = 0; count < checkpoints; count += 1) throttle.noteWritten(UNDER_WAY);
  return throttle;
}

test('four checkpoints are due at once, the fifth when a second has passed', () => {
  expect(paceAfter(3).isDue(UNDER_WAY)).toBe(true);
  const throttle = paceAfter(4);
  expect(throttle.isDue(UNDER_WAY)).toBe(false);
  vi.advanceTimersByTime(999);
  expect(throttle.isDue(UNDER_WAY)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(throttle.isDue(UNDER_WAY)).toBe(true);
});

test('the ending is due however many there were just now, and nothing is after it', () => {
  const throttle = paceAfter(50);
  expect(throttle.isDue(ENDING)).toBe(true);
  expect(throttle.isEndingNews(ENDING)).toBe(true);
  throttle.noteWritten(ENDING);
  expect(throttle.isEndingNews(ENDING)).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(throttle.isDue(ENDING)).toBe(false);
});
