import { expect, test } from 'vitest';
import { readLimits } from './typed-limits.ts';

const NONE = { concurrent: '', requests: '', tokens: '' };

test('an empty field is no limit, a whole number is one', () => {
  expect(readLimits({ concurrent: ' 20 ', requests: '', tokens: '100000' })).toEqual({
    max_concurrent: 20,
    requests_per_minute: null,
    tokens_per_minute: 100_000,
  });
});

test('what is no whole number is never read as "any number"', () => {
  for (const text of ['100,000', '100.000', '1e5', '10k', '0', '-1', '0x10', '1 000'])
    for (const name of ['concurrent', 'requests', 'tokens'] as const)
      expect(() => readLimits({ ...NONE, [name]: text }), text).toThrow('Write whole numbers above 0, or nothing.');
});
