import { expect, test } from 'vitest';
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatMoney,
  formatSum,
} from '../vocabulary/format-amounts.ts';
import { parseUsd } from '../vocabulary/usd.ts';
import { formatTable, right } from './format-table.ts';
import { cutText, terminalText } from './terminal-text.ts';

test.each([
  ['0', '$0.00'],
  ['0.00039', '$0.00039'],
  ['0.000000000001', '$0.000000000001'],
  ['0.000394', '$0.000394'],
  ['0.0000267', '$0.0000267'],
  ['0.009999', '$0.009999'],
  ['0.01', '$0.01'],
  ['0.012345', '$0.01235'],
  ['1.23456', '$1.235'],
  ['12.3', '$12.30'],
  ['99.999', '$100.00'],
  ['100.004', '$100.00'],
  ['1234.567', '$1234.57'],
  ['-1.5', '-$1.50'],
])('%s dollars are shown as %s', (amount, shown) => {
  expect(formatMoney(parseUsd(amount))).toBe(shown);
});

test('an unknown amount is a dash, and a sum with unknown parts is "at least"', () => {
  expect(formatMoney(null)).toBe('—');
  expect(formatSum(420_000_000_000n, 0)).toBe('$0.42');
  expect(formatSum(420_000_000_000n, 2)).toBe('≥ $0.42');
});

test.each([
  ['0.0184975', '≥ $0.01849'],
  ['99.999', '≥ $99.99'],
  ['1234.567', '≥ $1234.56'],
  ['0.000000000001', '≥ $0.000000000001'],
  ['-0.0184975', '≥ -$0.0185'],
])('a lower bound of %s dollars is shown as %s, never as more', (amount, shown) => {
  expect(formatSum(parseUsd(amount), 1)).toBe(shown);
});

test('an estimate is shown only where there is no cost, and never as one', () => {
  expect(formatCost(null, parseUsd('0.0012'))).toBe('~$0.0012 (estimate)');
  expect(formatCost(parseUsd('0.5'), parseUsd('0.0012'))).toBe('$0.50');
  expect(formatCost(null, null)).toBe('—');
});

test('counts, durations and sizes are short', () => {
  expect([null, 0, 999, 1_000, 12_400, 999_949, 999_950, 1_234_567].map(formatCount)).toEqual([
    '—',
    '0',
    '999',
    '1.0k',
    '12.4k',
    '999.9k',
    '1.0M',
    '1.2M',
  ]);
  expect([null, 0, 412, 999, 1_000, 3_214, 59_994, 60_000, 124_000, 3_599_600, 3_720_000].map(formatDuration)).toEqual([
    '—',
    '0 ms',
    '412 ms',
    '999 ms',
    '1.00 s',
    '3.21 s',
    '59.99 s',
    '1 m 00 s',
    '2 m 04 s',
    '1 h 00 m',
    '1 h 02 m',
  ]);
  expect([null, 0, 512, 1_500_000].map(formatBytes)).toEqual(['—', '0 B', '512 B', '1.5 MB']);
});

test('columns are aligned, numbers to the right', () => {
  expect(
    formatTable(
      ['name', right('cost')],
      [
        ['a', '$1.00'],
        ['long name', '$10.00'],
      ],
    ),
  ).toEqual(['name         cost', 'a           $1.00', 'long name  $10.00']);
});

test('control characters and direction marks cannot reach the terminal', () => {
  expect(terminalText('a\u001b[31mred\u0007\r\nb\u009bx\u202etxt')).toBe(
    'a\\x1b[31mred\\x07\\x0d\\x0ab\\x9bx\\u202etxt',
  );
  expect(terminalText('ü 😀')).toBe('ü 😀');
  expect(cutText('abcdef', 4)).toBe('abc…');
  expect(cutText('abcd', 4)).toBe('abcd');
});
