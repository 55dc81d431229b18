import pg from 'pg';
import { expect, test } from 'vitest';
import { walkHours } from './walk-hours.ts';

const LIMITS = { firstRows: 1, budgetMs: 1_000, monotonicMs: () => 0 };
const HOUR = new Date('2026-03-01T10:00:00Z');

test('a range without an hour is asked once, since the ends of a window are read with it', async () => {
  const asked: unknown[] = [];
  const range = { from: HOUR, to: HOUR };
  const searchedTo = await walkHours(new pg.Client(), range, 24, LIMITS, async (stretch) => void asked.push(stretch));
  expect(asked).toEqual([range]);
  expect(searchedTo).toBeNull();
});
