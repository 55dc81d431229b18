import { pino } from 'pino';
import { expect, test } from 'vitest';
import { formatLine } from './log.ts';

test('on a terminal an entry is one short line with its fields', () => {
  const entry = {
    level: 'warn',
    time: '2026-11-28T01:15:39.421Z',
    process: 'proxy',
    pid: 7,
    port: 4141,
    reason: 'no answer',
    msg: 'upstream away',
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
  expect(formatLine(JSON.stringify(entry))).toBe('01:15:39 ERROR control    \n  Error: x\n   at y\n');
});

test('text from outside can neither begin an entry of its own nor command the terminal', () => {
  const hostile = 'x\r\n01:15:39 FATAL proxy gone\u001b[2J\u009b2J\u202e\u2028end';
  const entry = {
    level: 'warn',
    time: '2026-11-28T01:15:39.421Z',
    process: 'proxy',
    reason: hostile,
    [hostile]: 1,
    msg: hostile,
    err: { stack: `Error: ${hostile}` },
  };
  const shown = formatLine(JSON.stringify(entry));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(shown.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202e]/);
  expect(shown.split('\n').filter((line) => /^\d\d:/.test(line)).length).toBe(1);
});

test('an entry of the JSON form is one line, whatever is in it', () => {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
  log.info({ name: 'a\r\n{"level":60}\u001b[2J', 'k\n': 1 }, 'm\n{"level":"fatal"}');
  expect(lines.length).toBe(1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  expect(lines.join('')).toMatch(/^[^\u0000-\u001f]*\n$/);
});
