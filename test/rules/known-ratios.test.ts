import { expect, test } from 'vitest';
import { judgeChange } from '../../bench/proxy/known-ratios.ts';

// Known: JSON 3.2; a tenth to both sides is noise.
test('a run is worse or better than known only where its whole interval is', () => {
  expect(judgeChange('json', 3.7, { low: 3.6, high: 3.9 })).toBe('worse');
  expect(judgeChange('json', 3.7, { low: 3.4, high: 3.9 })).toBe('unsure');
  expect(judgeChange('json', 3.3, { low: 3.0, high: 3.9 })).toBe('as known');
  expect(judgeChange('json', 2.5, { low: 2.4, high: 2.8 })).toBe('better');
  expect(judgeChange('json', 2.5, { low: 2.4, high: 3.1 })).toBe('unsure');
});

test('a variant that was never measured on a quiet machine is not judged', () => {
  expect(judgeChange('sse-gzip', 9, { low: 9, high: 9 })).toBeNull();
});
