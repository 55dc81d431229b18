import { expect, test } from 'vitest';
import type { RejectedAttempt } from '../vocabulary/channel.ts';
import { createRecentAttempts } from './recent-attempts.ts';

function attempt(atMs: number): RejectedAttempt {
  return { atMs, code: 'key_missing', status: 401, method: 'GET', path: '/', provider: null, userAgent: null };
}

test('the last hundred are kept, and what is not kept is counted', () => {
  const recent = createRecentAttempts();
  recent.add(
    Array.from({ length: 70 }, (_, index) => attempt(index)),
    3,
  );
  recent.add(
    Array.from({ length: 70 }, (_, index) => attempt(70 + index)),
    0,
  );
  expect(recent.list()).toHaveLength(100);
  expect(recent.list().at(0)?.atMs).toBe(40);
  expect(recent.list().at(-1)?.atMs).toBe(139);
  expect(recent.notShown()).toBe(43);
});
