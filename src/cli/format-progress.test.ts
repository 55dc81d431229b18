import { expect, test } from 'vitest';
import { formatProgress, type JobProgress } from './format-progress.ts';

const JOB: JobProgress = {
  title: 'Promote Feature',
  phase: 'indexing older calls',
  done: 6_800_000,
  total: 10_000_000,
  unit: 'calls',
  rate_per_second: 41_000.4,
  eta_seconds: 78,
  state: 'running',
  error: null,
};

test('progress is one line with a bar, counts, rate and the time that is left', () => {
  expect(formatProgress(JOB)).toBe(
    'Promote Feature  indexing older calls  ██████░░░░ 68 %  6.8M/10.0M calls  41.0k/s  1 m 18 s left',
  );
});

test('without a total there is no bar and no percentage, and the bar is not full before the end', () => {
  expect(formatProgress({ ...JOB, total: null, eta_seconds: null, rate_per_second: null })).toBe(
    'Promote Feature  indexing older calls  6.8M calls',
  );
  expect(formatProgress({ ...JOB, done: 9_999_999, eta_seconds: null, rate_per_second: null })).toContain(
    '█████████░ 99 %',
  );
});

test('what it waits for and that it is stalled is said, harmless for the terminal', () => {
  const line = formatProgress({ ...JOB, state: 'stalled', error: '55P03: lock\u001b[2J', eta_seconds: null });
  expect(line).toContain('stalled  waits: 55P03: lock\\x1b[2J');
});
