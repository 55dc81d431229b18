import { expect, test } from 'vitest';
import { formatUsd } from '../../../vocabulary/usd.ts';
import { parseReportAmount } from './report-amount.ts';

function read(text: string, unit: 'dollars' | 'cents' = 'dollars'): string | null {
  const amount = parseReportAmount(text, unit);
  return amount === null ? null : formatUsd(amount);
}

test('dollars are read exactly, however they are written', () => {
  expect(read('0.06')).toBe('0.06');
  expect(read('1.5e-2')).toBe('0.015');
  expect(read('0.000004500000000000000000000000000000000')).toBe('0.0000045');
  expect(read('9007199254740993.01')).toBe('9007199254740993.01');
  expect(read('-0.25')).toBe('-0.25');
  expect(read('2E+3')).toBe('2000');
});

test('cents are a hundredth of a dollar each', () => {
  expect(read('123.78912', 'cents')).toBe('1.2378912');
  expect(read('123.45', 'cents')).toBe('1.2345');
  expect(read('1', 'cents')).toBe('0.01');
});

test('what lies below a pico-dollar is rounded, half to even', () => {
  // As floats are written: 0.1 + 0.2.
  expect(read('0.30000000000000004')).toBe('0.3');
  expect(read('0.0000000000025')).toBe('0.000000000002');
  expect(read('0.0000000000035')).toBe('0.000000000004');
  expect(read('5e-1000')).toBe('0');
});

test('a zero is a zero with any exponent, and no exponent makes a huge number', () => {
  expect(read('0E-6176')).toBe('0');
  expect(read('1e999999')).toBeNull();
});

test('everything else is no amount', () => {
  for (const text of ['', '1,5', '$1', 'NaN', '0x10', '1.', '.5', '1e', '--1']) expect(read(text)).toBeNull();
});
