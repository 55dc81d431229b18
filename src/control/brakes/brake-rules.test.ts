import { expect, test } from 'vitest';
import { findBadSetting } from './brake-rules.ts';

test('a threshold that could never be reached is refused with its real bound', () => {
  for (const rule of ['same_prefix', 'same_tool_call', 'retries'] as const) {
    expect(findBadSetting(rule, { times: 200, window_seconds: 3_600 })).toBeNull();
    expect(findBadSetting(rule, { times: 201 })).toMatch(/^times is from 2 to 200: /);
  }
  expect(findBadSetting('cache_collapse', { calls: 50 })).toBeNull();
  expect(findBadSetting('cache_collapse', { calls: 51 })).toMatch(/^calls is from 2 to 50: /);
  expect(findBadSetting('unpriced', { calls: 10_000 })).toBeNull();
});

test('what is counted is whole; shares, factors and money need not be', () => {
  expect(findBadSetting('retries', { times: 2.5 })).toBe(
    'times is a whole number: failures of the same request, of which the latest 200 are remembered.',
  );
  expect(findBadSetting('spend_speed', { window_seconds: 16.1 })).toMatch(/^window_seconds is a whole number: /);
  expect(findBadSetting('spend_speed', { window_seconds: 60, factor: 2.5, least_usd: 0.25 })).toBeNull();
  expect(findBadSetting('cache_collapse', { before_percent: 33.3 })).toBeNull();
});
