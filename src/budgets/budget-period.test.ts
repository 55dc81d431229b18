import { expect, test } from 'vitest';
import { isTimeZone, periodAt } from './budget-period.ts';

function bounds(period: Parameters<typeof periodAt>[0], zone: string, now: string): string[] {
  const { startMs, endMs } = periodAt(period, zone, Date.parse(now));
  return [new Date(startMs).toISOString(), endMs === null ? 'never' : new Date(endMs).toISOString()];
}

test('periods begin with the hour, the day, Monday and the first of the month', () => {
  expect(bounds('hour', 'UTC', '2026-03-04T05:59:59.999Z')).toEqual([
    '2026-03-04T05:00:00.000Z',
    '2026-03-04T06:00:00.000Z',
  ]);
  expect(bounds('day', 'UTC', '2026-03-04T00:00:00Z')).toEqual([
    '2026-03-04T00:00:00.000Z',
    '2026-03-05T00:00:00.000Z',
  ]);
  expect(bounds('week', 'UTC', '2026-03-08T23:59:59Z')).toEqual([
    '2026-03-02T00:00:00.000Z',
    '2026-03-09T00:00:00.000Z',
  ]);
  expect(bounds('month', 'UTC', '2026-12-31T23:59:59Z')).toEqual([
    '2026-12-01T00:00:00.000Z',
    '2027-01-01T00:00:00.000Z',
  ]);
  expect(bounds('once', 'UTC', '2026-12-31T23:59:59Z')).toEqual(['1970-01-01T00:00:00.000Z', 'never']);
});

test('a day in a time zone is as long as the zone has it', () => {
  // The day of the change to summer time has 23 hours.
  expect(bounds('day', 'Europe/Berlin', '2026-03-29T12:00:00Z')).toEqual([
    '2026-03-28T23:00:00.000Z',
    '2026-03-29T22:00:00.000Z',
  ]);
  expect(bounds('month', 'America/New_York', '2026-04-01T03:00:00Z')).toEqual([
    '2026-03-01T05:00:00.000Z',
    '2026-04-01T04:00:00.000Z',
  ]);
  expect(isTimeZone('Europe/Berlin')).toBe(true);
  expect(isTimeZone('Mars/Olympus')).toBe(false);
});
