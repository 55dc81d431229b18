import { expect, test } from 'vitest';
import type { RejectedAttempt, SupervisorStatus } from '../../vocabulary/channel.ts';
import { FIRST_ATTEMPT, formatArrivalId, listNewAttempts, parseArrivalId } from './attempt-position.ts';

/** All of them look the same: only their number tells them apart. */
const ATTEMPT: RejectedAttempt = {
  atMs: 5,
  code: 'key_missing',
  status: 401,
  method: 'GET',
  path: '/v1/models',
  provider: null,
  userAgent: null,
};

function status(total: number, kept: number, startedAtMs = 1_000): SupervisorStatus {
  return {
    restart: { requested: 0, finished: 0, problem: null },
    startedAtMs,
    children: [],
    attempts: Array.from({ length: kept }, () => ATTEMPT),
    attemptsTotal: total,
    attemptsNotShown: 0,
  };
}

function newCounts(current: SupervisorStatus, startedAtMs: number, count: number): number[] {
  return listNewAttempts(current, { startedAtMs, count }).map(({ position }) => position.count);
}

test('a new reader gets all attempts that are kept', () => {
  expect(newCounts(status(3, 3), FIRST_ATTEMPT.startedAtMs, FIRST_ATTEMPT.count)).toEqual([1, 2, 3]);
});

test('a reader who goes on gets each later attempt once, also when it looks like the one before', () => {
  expect(newCounts(status(5, 5), 1_000, 3)).toEqual([4, 5]);
  expect(newCounts(status(5, 5), 1_000, 5)).toEqual([]);
});

test('what was forgotten meanwhile is passed over', () => {
  expect(newCounts(status(250, 2), 1_000, 100)).toEqual([249, 250]);
});

test('after a restart the count begins anew', () => {
  expect(newCounts(status(1, 1, 2_000), 1_000, 40)).toEqual([1]);
});

test('an id holds both positions; any other text is none', () => {
  const position = {
    tail: { xid: '771', id: '019ac9f0-0000-7000-8000-000000000001' },
    attempts: { startedAtMs: 1_000, count: 4 },
  };
  expect(formatArrivalId(position)).toBe('771_019ac9f0-0000-7000-8000-000000000001.1000.4');
  expect(parseArrivalId(formatArrivalId(position))).toEqual(position);
  for (const text of ['', '771', '771_019ac9f0-0000-7000-8000-000000000001', 'x.1.2', `${'1_'.repeat(40)}.1.2`])
    expect(parseArrivalId(text)).toBeNull();
});
