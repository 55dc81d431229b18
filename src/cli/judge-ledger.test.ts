import { expect, test } from 'vitest';
import { formatEquation, judgeLedger, type Ledger } from './judge-ledger.ts';

const NOW_MS = Date.parse('2026-11-28T12:00:00Z');
const ACCOUNTS: Ledger = {
  accepted: 1_234_567,
  stored: 1_234_564,
  spooled: 0,
  in_flight: 0,
  set_aside: 0,
  lost: 3,
  missing: 0,
  difference: 0,
  ended: 1_234_567,
  found: 1_234_564,
  is_whole: true,
  oldest_waiting_at: null,
  unaccounted: [],
  unaccounted_total: 0,
  losses: [{ minute: '2026-11-28T11:30:00Z' }],
};

test('the account is exact to the last call, however many there are', () => {
  expect(formatEquation(ACCOUNTS)).toBe(
    '1,234,567 accepted = 1,234,564 stored + 0 spooled + 0 in flight + 0 set aside + 3 lost',
  );
});

test('a loss is a problem for a day, then a note; one without a trace stays a problem', () => {
  const levels = (change: Partial<Ledger>) => {
    const ledger = { ...ACCOUNTS, ...change };
    return [...judgeLedger(ledger, ledger, NOW_MS)].map(({ level }) => level);
  };
  const losses = [{ minute: '2026-11-27T11:30:00Z' }];
  expect(levels({})).toEqual(['ok', 'problem']);
  expect(levels({ losses })).toEqual(['ok', 'note']);
  expect(levels({ losses, missing: 1 })).toEqual(['ok', 'problem']);
});
