import { expect, test } from 'vitest';
import { readTime } from './read-time.ts';

const read = (text: string, timeZone: string) => {
  const atMs = readTime(text, timeZone);
  return atMs === null ? null : new Date(atMs).toISOString();
};

test('a time without a zone is one of the zone that is shown, wherever the browser is', () => {
  expect(read('2026-11-20 14:00', 'UTC')).toBe('2026-11-20T14:00:00.000Z');
  expect(read('2026-11-20 14:00', 'Asia/Tokyo')).toBe('2026-11-20T05:00:00.000Z');
  expect(read(' 2026-07-20T14:00:30.5 ', 'America/New_York')).toBe('2026-07-20T18:00:30.500Z');
  expect(read('2026-11-20 14:00', 'Asia/Kolkata')).toBe('2026-11-20T08:30:00.000Z');
});

test('as the button of the range shows it, with a comma, it can be typed as well', () => {
  expect(read('2026-11-20, 14:00', 'Asia/Tokyo')).toBe('2026-11-20T05:00:00.000Z');
});

test('a date alone is the beginning of its day in that zone', () => {
  expect(read('2026-11-20', 'UTC')).toBe('2026-11-20T00:00:00.000Z');
  expect(read('2026-11-20', 'Asia/Tokyo')).toBe('2026-11-19T15:00:00.000Z');
});

test('a zone that was written counts', () => {
  expect(read('2026-11-20T14:00Z', 'Asia/Tokyo')).toBe('2026-11-20T14:00:00.000Z');
  expect(read('2026-11-20 14:00 +01:00', 'Asia/Tokyo')).toBe('2026-11-20T13:00:00.000Z');
  expect(read('2026-11-20 14:00:00-0530', 'Asia/Tokyo')).toBe('2026-11-20T19:30:00.000Z');
});

test('where the clocks change an hour that is not there is the one after, and one that is there twice is one of both', () => {
  expect(read('2026-03-29 02:30', 'Europe/Berlin')).toBe('2026-03-29T01:30:00.000Z');
  expect(['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z']).toContain(read('2026-10-25 02:30', 'Europe/Berlin'));
});

test('what is no time is none, and no day runs over into the next month', () => {
  for (const text of ['', 'yesterday', '14:00', '2026-02-30', '2026-13-01', '2026-11-20 24:00', '2026-11-20 14:60'])
    expect(read(text, 'UTC'), text).toBeNull();
  for (const text of ['2026-11-20 14:00 +25:00', '20.11.2026', '2026-11-20Z', '2026-11-20 1']) {
    expect(read(text, 'UTC'), text).toBeNull();
  }
});
