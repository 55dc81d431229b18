import { expect, test } from 'vitest';
import { readTiming, readTokensPerSecond } from './call-timing.ts';

const CALL = {
  duration_ms: 1_000,
  overhead_us: 1_500,
  connect_ms: 40,
  headers_ms: 300,
  first_byte_ms: 300,
  first_token_ms: 420,
};

test('the stages follow each other and add up to the duration', () => {
  expect(readTiming(CALL).map(({ id, startMs, endMs }) => [id, startMs, endMs])).toEqual([
    ['gateway', 0, 1.5],
    ['connect', 1.5, 40],
    ['headers', 40, 300],
    ['first_byte', 300, 300],
    ['first_token', 300, 420],
    ['rest', 420, 1_000],
  ]);
});

test('moments that are missing or beyond the end leave no gap', () => {
  const stages = readTiming({ ...CALL, connect_ms: null, first_token_ms: 5_000 });
  expect(stages.map(({ id, startMs, endMs }) => [id, startMs, endMs])).toEqual([
    ['gateway', 0, 1.5],
    ['headers', 1.5, 300],
    ['first_byte', 300, 300],
    ['first_token', 300, 1_000],
    ['rest', 1_000, 1_000],
  ]);
  expect(readTiming({ ...CALL, duration_ms: null })).toEqual([]);
});

test('tokens a second count from the first token', () => {
  expect(readTokensPerSecond(CALL, 58)).toBe(100);
  expect(readTokensPerSecond({ ...CALL, first_token_ms: null }, 58)).toBeNull();
});
