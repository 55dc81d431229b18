/** The limits in docs/limits.md are those of the code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  '%': 0.01,
  bytes: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  ms: 1,
  s: 1_000,
  min: 60_000,
  h: 3_600_000,
  days: 86_400_000,
};

interface Limit {
  readonly what: string;
  readonly stated: number;
  readonly file: string;
  readonly name: string;
}

/** Rows of the form: what, limit, what happens beyond it, `file` NAME. */
function readLimits(): Limit[] {
  const text = readFileSync(join(ROOT, 'docs', 'limits.md'), 'utf8');
  const rows = text.matchAll(/^\| (.+?) +\| ([\d,]+)(?: ([\w%]+))? +\| .+? +\| `(\S+\.ts)` (\w+) +\|$/gm);
  return [...rows].map(([, what = '', number = '', unit = '', file = '', name = '']) => ({
    what,
    file,
    name,
    stated: Number(number.replaceAll(',', '')) * (UNITS[unit] ?? Number.NaN),
  }));
}

const PRODUCT = String.raw`[\d_][\d_.]*(?: \*{1,2} [\d_.]+)*`;

/** The value of a constant, or of a member of one, that is a product of numbers: bytes, milliseconds, or a count. */
function readConstant(file: string, name: string): number {
  const source = readFileSync(join(ROOT, 'src', file), 'utf8');
  const [, product = ''] = new RegExp(`\\b${name}(?: =|:) (${PRODUCT})(?:[;,]| })`).exec(source) ?? [];
  const unit = name.endsWith('_SECONDS') ? 1_000 : name.endsWith('_MB') ? 1024 ** 2 : 1;
  return product.split(/ \* /).reduce((value, factor) => {
    const [base = Number.NaN, exponent = 1] = factor.split(' ** ').map((text) => Number(text.replaceAll('_', '')));
    return value * base ** exponent;
  }, unit);
}

const limits = readLimits();

test('all rows are read, and no limit stands there twice', () => {
  expect(limits.length).toBeGreaterThanOrEqual(100);
  const names = limits.map(({ file, name }) => `${file} ${name}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each(limits)('$what ($name)', ({ stated, file, name }) => {
  expect(stated).toBeCloseTo(readConstant(file, name), 6);
});
