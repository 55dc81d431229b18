/** The limits in docs/operating.md are those of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  bytes: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  s: 1_000,
  min: 60_000,
};

interface Limit {
  readonly what: string;
  readonly stated: number;
  readonly file: string;
  readonly name: string;
}

/** Rows of the form: what, limit, what happens beyond it, `file` NAME. */
function readLimits(): Limit[] {
  const text = readFileSync(join(ROOT, 'docs', 'operating.md'), 'utf8');
  const rows = text.matchAll(/^\| (.+?) +\| ([\d,]+)(?: (\w+))? +\| .+? +\| `(\S+\.ts)` (\w+) +\|$/gm);
  return [...rows].map(([, what = '', number = '', unit = '', file = '', name = '']) => ({
    ...{ what, file, name },
    stated: Number(number.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN),
  }));
}

/** The value of a constant, or of a member of one, that is a product of whole numbers. */
function readConstant(file: string, name: string): number {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8');
  const [, product = ''] = new RegExp(`\\b${name}(?: =|:) ([\\d_ *]+)[;,]`).exec(source) ?? [];
  const factors = product.split('*').map((factor) => Number(factor.trim().replaceAll('_', '')));
  return factors.reduce((value, factor) => value * factor, 1);
}

const limits = readLimits();

test('all rows are read', () => {
  expect(limits.length).toBeGreaterThanOrEqual(40);
});

test.each(limits)('$what', ({ stated, file, name }) => {
  expect(stated).toBe(readConstant(file, name));
});
