import { expect, test } from 'vitest';
import { readKeyState } from './key-state.ts';

const NOW_MS = Date.parse('2026-11-28T12:00:00Z');

test.each([
  [{ revoked_at: null, expires_at: null }, 'active'],
  [{ revoked_at: null, expires_at: '2027-01-01T00:00:00.000Z' }, 'active'],
  [{ revoked_at: null, expires_at: '2026-12-01T00:00:00.000Z' }, 'expires soon'],
  [{ revoked_at: null, expires_at: '2026-11-28T12:00:00.000Z' }, 'expired'],
  [{ revoked_at: '2026-11-01T00:00:00.000Z', expires_at: '2026-11-02T00:00:00.000Z' }, 'revoked'],
])('%j is %s', (key, word) => {
  expect(readKeyState(key, NOW_MS).word).toBe(word);
});
