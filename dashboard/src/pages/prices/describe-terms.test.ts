import { expect, test } from 'vitest';
import { describeHours, describePrompts } from './describe-terms.ts';

test('the sizes of prompts that a rate is for are told with their bounds', () => {
  expect(describePrompts(null)).toBeNull();
  expect(describePrompts({ over_tokens: null, up_to_tokens: 272_000 })).toBe('prompts up to 272,000 tokens');
  expect(describePrompts({ over_tokens: 272_000, up_to_tokens: null })).toBe('prompts over 272,000 tokens');
  expect(describePrompts({ over_tokens: 0, up_to_tokens: 5 })).toBe('prompts over 0, up to 5 tokens');
});

test('hours are told with their days, unless they are all, and with their distance from UTC', () => {
  const peak = { utc_offset_minutes: 480, weekdays: [1, 2, 3, 4, 5], from: '09:00', to: '12:00' };
  expect(describeHours(peak)).toBe('Mon, Tue, Wed, Thu, Fri 09:00–12:00 UTC+8');
  expect(describeHours({ ...peak, weekdays: [1, 2, 3, 4, 5, 6, 7], utc_offset_minutes: -330 })).toBe(
    '09:00–12:00 UTC−5:30',
  );
  expect(describeHours({ ...peak, utc_offset_minutes: 0, weekdays: [7] })).toBe('Sun 09:00–12:00 UTC');
  expect(describeHours(null)).toBeNull();
});
