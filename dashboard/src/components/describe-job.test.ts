import { expect, test } from 'vitest';
import type { Job } from '../api/jobs.ts';
import { describeJob, jobPercent } from './describe-job.ts';

const JOB: Job = {
  id: 1,
  kind: 'promote_metadata',
  title: 'Promote Feature',
  input: { key: 'Feature' },
  phase: 'back-fill',
  done: 6_800,
  total: 10_000,
  unit: 'calls',
  rate_per_second: 412.4,
  eta_seconds: 78,
  state: 'running',
  error: null,
  created_at: '2026-11-28T10:00:00.000Z',
  started_at: '2026-11-28T10:00:00.000Z',
  finished_at: null,
  heartbeat_at: '2026-11-28T10:00:10.000Z',
  result: null,
};
const LATER_MS = Date.parse('2026-11-28T10:00:10Z');

test('a running job tells its phase, share, count, rate and the time left', () => {
  expect(describeJob(JOB, LATER_MS)).toEqual(['back-fill', '68 %', '6.8k of 10.0k calls', '412/s', '1 m 18 s left']);
});

test('in its first seconds a job promises no time', () => {
  expect(describeJob(JOB, Date.parse('2026-11-28T10:00:04.999Z'))).not.toContain('1 m 18 s left');
});

test('the time left is in whole seconds', () => {
  expect(describeJob({ ...JOB, eta_seconds: 2.2 }, LATER_MS).at(-1)).toBe('3 s left');
});

test('a job that waits has no rate', () => {
  expect(describeJob({ ...JOB, done: 0, rate_per_second: 0, eta_seconds: null }, LATER_MS)).toEqual([
    'back-fill',
    '0 %',
    '0 of 10.0k calls',
  ]);
});

test('without a total there is no percentage', () => {
  expect(describeJob({ ...JOB, total: null, eta_seconds: null }, LATER_MS)).toEqual([
    'back-fill',
    '6.8k calls',
    '412/s',
  ]);
});

test('a hundred percent means all of it', () => {
  expect(jobPercent({ ...JOB, done: 9_999 })).toBe(99);
  expect(jobPercent({ ...JOB, done: 10_400 })).toBe(100);
  expect(jobPercent({ ...JOB, done: 0, total: 0 })).toBe(0);
});

test('a job that does not run says so instead of a rate', () => {
  expect(describeJob({ ...JOB, state: 'cancelled' }, LATER_MS)).toEqual(['cancelled', '68 %', '6.8k of 10.0k calls']);
  expect(describeJob({ ...JOB, state: 'done', done: 10_000 }, LATER_MS)).toEqual(['done', '10.0k of 10.0k calls']);
});
