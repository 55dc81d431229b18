import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EMPTY_READING } from '../shapes/reading.ts';
import { CheckpointPace } from './checkpoint-pace.ts';

const UNDER_WAY = { ...EMPTY_READING, terminal: false };
const ENDING = { ...EMPTY_READING, terminal: true };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function paceAfter(checkpoints: number): CheckpointPace {
  const pace = new CheckpointPace();
  for (let count = 0; count < checkpoints; count += 1) pace.told(UNDER_WAY);
  return pace;
}

test('four checkpoints are due at once, the fifth when a second has passed', () => {
  expect(paceAfter(3).isDue(UNDER_WAY)).toBe(true);
  const pace = paceAfter(4);
  expect(pace.isDue(UNDER_WAY)).toBe(false);
  vi.advanceTimersByTime(999);
  expect(pace.isDue(UNDER_WAY)).toBe(false);
  vi.advanceTimersByTime(1);
  expect(pace.isDue(UNDER_WAY)).toBe(true);
});

test('the ending is due however many there were just now, and nothing is after it', () => {
  const pace = paceAfter(50);
  expect(pace.isDue(ENDING)).toBe(true);
  expect(pace.isEndingNews(ENDING)).toBe(true);
  pace.told(ENDING);
  expect(pace.isEndingNews(ENDING)).toBe(false);
  vi.advanceTimersByTime(60_000);
  expect(pace.isDue(ENDING)).toBe(false);
});
