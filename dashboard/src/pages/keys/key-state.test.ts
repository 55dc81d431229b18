import { expect, test } from 'vitest';
import { hasUsableSuccessor, readKeyState } from './key-state.ts';

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

test('a key is replaced while any key that rotations made of it is usable', () => {
  const key = { revoked_at: null, expires_at: null };
  const dead = { revoked_at: '2026-11-01T00:00:00.000Z', expires_at: null };
  const [first, second] = [
    { ...key, id: 1, replaced_by: 2 },
    { ...dead, id: 2, replaced_by: 3 },
  ];
  const hasOne = (third: typeof key | typeof dead) =>
    hasUsableSuccessor(first, [first, second, { ...third, id: 3, replaced_by: null }], NOW_MS);
  expect([hasOne(key), hasOne(dead), hasUsableSuccessor({ ...key, id: 4, replaced_by: null }, [], NOW_MS)]).toEqual([
    true,
    false,
    false,
  ]);
});
