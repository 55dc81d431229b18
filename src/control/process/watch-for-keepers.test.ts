import { expect, test } from 'vitest';
import { isKept } from './watch-for-keepers.ts';

test('a node of any role but proxy keeps the log for 15 minutes after its last sign of life', () => {
  expect(isKept([])).toBe(false);
  expect(isKept([{ role: 'proxy', silentMs: 0 }])).toBe(false);
  expect(isKept([{ role: 'control', silentMs: 899_999 }])).toBe(true);
  expect(isKept([{ role: 'all', silentMs: 0 }])).toBe(true);
  expect(
    isKept([
      { role: 'control', silentMs: 900_000 },
      { role: 'proxy', silentMs: 0 },
    ]),
  ).toBe(false);
});
