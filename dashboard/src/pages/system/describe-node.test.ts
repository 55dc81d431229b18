import { expect, test } from 'vitest';
import type { NodeList } from '../../../../src/control/admin/nodes-resource.ts';
import { describeClock, describeRemarks } from './describe-node.ts';

const NODE: NodeList['data'][number] = {
  id: '1',
  name: 'a',
  host: 'h',
  is_self: true,
  version: '0.3.0',
  role: 'all',
  state: 'live',
  started_at: '',
  seen_at: '',
  silent_seconds: 0,
  stopped_at: null,
  is_doubled: false,
  clock_skew_ms: 0,
  clock_stepped_at: null,
  clock_step_ms: null,
  records_waiting: 0,
  open_calls: 0,
  shown_open: 0,
  differing_settings: [],
};

test('a clock is right, or by how much it is not', () => {
  expect(describeClock(40)).toBe('right');
  expect(describeClock(180_000)).toBe('3 m 00 s ahead');
  expect(describeClock(-8_640_000_000)).toBe('100 days behind');
});

test('of a node that is well nothing is said, of another what is wrong', () => {
  expect(describeRemarks(NODE)).toBe('—');
  expect(describeRemarks({ ...NODE, clock_skew_ms: 180_000, differing_settings: ['retention_rows'] })).toBe(
    'its clock is wrong by the database’s, so it deletes nothing; started with another retention_rows than all nodes have.',
  );
  expect(describeRemarks({ ...NODE, state: 'silent' })).toBe('no sign of life; see docs/node-gone.md.');
});
