import { expect, test } from 'vitest';
import { judgeNodes, type Node } from './judge-nodes.ts';

const NODE: Node = {
  id: '1',
  name: 'a',
  host: 'h',
  is_self: true,
  version: '0.3.0',
  role: 'all',
  state: 'live',
  started_at: '',
  seen_at: '',
  silent_seconds: 3,
  is_doubled: false,
  clock_skew_ms: 0,
  clock_stepped_at: null,
  clock_step_ms: null,
  records_waiting: 0,
  open_calls: 0,
  shown_open: 0,
  differing_settings: [],
};

function problems(nodes: readonly Node[]): readonly string[] {
  return [...judgeNodes({ data: [...nodes] }, 0)].filter(({ level }) => level === 'problem').map(({ text }) => text);
}

test('nodes that only take calls need one that does the rest, lately', () => {
  const proxy: Node = { ...NODE, id: '2', name: 'b', is_self: false, role: 'proxy' };
  expect(problems([NODE, proxy])).toEqual([]);
  expect(problems([{ ...NODE, role: 'control', state: 'stopped', silent_seconds: 899 }, proxy])).toEqual([]);
  const nobody =
    'nodes: none with the role "control" or "all" has given a sign of life within 15 minutes: nothing is deleted, no job runs, no price is fetched; start one';
  expect(problems([{ ...NODE, role: 'control', state: 'stopped', silent_seconds: 900 }, proxy])).toEqual([nobody]);
  expect(problems([proxy])).toEqual([nobody]);
  expect(problems([])).toEqual([]);
});
