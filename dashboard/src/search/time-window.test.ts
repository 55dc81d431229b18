import { expect, test } from 'vitest';
import { resolveRange, resolveWindow, startOfDayMs } from './time-window.ts';

const NOW_MS = Date.parse('2026-11-28T04:20:00Z');

test('a window by length ends a minute ahead, so that the calls of this moment are in it', () => {
  expect(resolveRange('1h', NOW_MS, 'UTC')).toEqual({
    from: '2026-11-28T03:20:00.000Z',
    to: '2026-11-28T04:21:00.000Z',
  });
});

test('yesterday is a day of the chosen zone', () => {
  expect(resolveRange('yesterday', NOW_MS, 'UTC')).toEqual({
    from: '2026-11-27T00:00:00.000Z',
    to: '2026-11-28T00:00:00.000Z',
  });
  expect(resolveRange('yesterday', NOW_MS, 'America/New_York')).toEqual({
    from: '2026-11-26T05:00:00.000Z',
    to: '2026-11-27T05:00:00.000Z',
  });
});

test('a day on which the clocks change has 23 or 25 hours', () => {
  const start = startOfDayMs('Europe/Berlin', 2026, 10, 25);
  const end = startOfDayMs('Europe/Berlin', 2026, 10, 26);
  expect((end - start) / 3_600_000).toBe(25);
  expect((startOfDayMs('Europe/Berlin', 2026, 3, 30) - startOfDayMs('Europe/Berlin', 2026, 3, 29)) / 3_600_000).toBe(
    23,
  );
});

test('last month in January is December', () => {
  expect(resolveRange('lastmonth', Date.parse('2027-01-15T12:00:00Z'), 'UTC')).toEqual({
    from: '2026-12-01T00:00:00.000Z',
    to: '2027-01-01T00:00:00.000Z',
  });
});

test('given instants win over a named range', () => {
  const window = { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' };
  expect(resolveWindow({ range: '15m', ...window }, NOW_MS, 'UTC')).toEqual({
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-11-02T00:00:00.000Z',
  });
});
