import { expect, test } from 'vitest';
import { windowAround, windowOfRun } from './linked-window.ts';

const NOW_MS = Date.parse('2026-11-28T12:00:00Z');

test('a link from a call of today has the usual window, one from an older call a window around it', () => {
  expect(windowAround('2026-11-28T11:59:00.000Z', '24h', NOW_MS)).toEqual({ range: '24h' });
  expect(windowAround('2026-11-27T15:00:00.000Z', '24h', NOW_MS)).toEqual({ range: '24h' });
  // It would be out of the last 24 hours before one has looked at it.
  expect(windowAround('2026-11-27T12:01:00.000Z', '24h', NOW_MS)).toEqual({
    from: '2026-11-27T00:01:00.000Z',
    to: '2026-11-28T00:01:00.000Z',
  });
  expect(windowAround('2026-09-10T12:00:00.000Z', '30d', NOW_MS)).toEqual({
    from: '2026-08-26T12:00:00.000Z',
    to: '2026-09-25T12:00:00.000Z',
  });
});

test('the window of a run has all of its calls, also those that a running one is about to make', () => {
  const times = { started_at: '2026-09-10T12:00:00.000Z', ended_at: '2026-09-10T12:30:00.500Z' };
  expect(windowOfRun({ ...times, open_calls: 0 })).toEqual({
    from: '2026-09-10T12:00:00.000Z',
    to: '2026-09-10T12:30:01.500Z',
  });
  expect(windowOfRun({ ...times, open_calls: 1 })).toEqual({ from: '2026-09-10T12:00:00.000Z' });
});
