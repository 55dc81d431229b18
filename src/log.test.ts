import { expect, test } from 'vitest';
import { formatLine } from './log.ts';

test('on a terminal an entry is one short line with its fields', () => {
  const entry = {
    ...{ level: 'warn', time: '2026-11-28T01:15:39.421Z', process: 'proxy', pid: 7 },
    ...{ port: 4141, reason: 'no answer', msg: 'upstream away' },
  };
  expect(formatLine(JSON.stringify(entry))).toBe(
    '01:15:39 WARN  proxy      upstream away port=4141 reason="no answer"\n',
  );
});

test('a stack follows on lines of its own', () => {
  const entry = {
    level: 'error',
    time: '2026-11-28T01:15:39.421Z',
    process: 'control',
    err: { stack: 'Error: x\n at y' },
  };
  expect(formatLine(JSON.stringify(entry))).toBe('01:15:39 ERROR control    \nError: x\n at y\n');
});
