import { expect, test } from 'vitest';
import { axisLabel, bucketWindow, fullLabel } from './bucket-label.ts';

test('hours are of the chosen zone, and the first hour of a day says which day', () => {
  expect(axisLabel('2026-11-26T23:00:00Z', 'hour', 'Europe/Berlin')).toBe('27 Nov');
  expect(axisLabel('2026-11-27T00:00:00Z', 'hour', 'Europe/Berlin')).toBe('01:00');
});

test('a week is called by its first day', () => {
  expect(fullLabel('2026-11-23T00:00:00Z', 'week', 'UTC')).toBe('Week of 23 Nov 2026');
  expect(fullLabel('2026-11-01T00:00:00Z', 'month', 'UTC')).toBe('November 2026');
});

test('a chosen stretch never reaches beyond the window that was asked for', () => {
  const costs = {
    from: '2026-11-26T06:00:00.000Z',
    to: '2026-11-28T03:00:00.000Z',
    bucket_starts: ['2026-11-26T00:00:00.000Z', '2026-11-27T00:00:00.000Z', '2026-11-28T00:00:00.000Z'],
  };
  expect(bucketWindow(costs, 1, 0)).toEqual({ from: costs.from, to: '2026-11-28T00:00:00.000Z' });
  expect(bucketWindow(costs, 2, 2)).toEqual({ from: '2026-11-28T00:00:00.000Z', to: costs.to });
});
