/** The limits in docs/operating.md are those of the code, and all of them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { INTERVAL, NOT_LIMITS } from './not-limits.ts';

const ROOT = join(import.meta.dirname, '..');
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
  const text = readFileSync(join(ROOT, 'docs', 'operating.md'), 'utf8');
  const rows = text.matchAll(/^\| (.+?) +\| ([\d,]+)(?: ([\w%]+))? +\| .+? +\| `(\S+\.ts)` (\w+) +\|$/gm);
  return [...rows].map(([, what = '', number = '', unit = '', file = '', name = '']) => ({
    ...{ what, file, name },
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

const CONSTANT = new RegExp(`^(?:export )?const ([A-Z][A-Z\\d_]*) = ${PRODUCT};`);
const MEMBER = new RegExp(`^  ([a-z]\\w*(?:Ms|Bytes|Seconds)|max[A-Z]\\w*): (?!0,)${PRODUCT},`);
const SOUNDS_LIKE_LIMIT =
  /^(?:DEFAULT_MAX|FEWEST|HIGHEST|LARGEST|LONGEST|LOWEST|MAX|MOST)_|_(?:BYTES|CHARACTERS|CHARS|DAYS|LENGTH|LIMIT|MB|MS|SECONDS|TRIES)$|^(?:BYTES|LIMIT|MAX|MS)$/;

/** Constants and members of settings that sound like a limit, as `file NAME`. */
function listBounds(file: string): string[] {
  const lines = readFileSync(join(ROOT, 'src', file), 'utf8').split('\n');
  return lines.flatMap((line) => {
    const constant = CONSTANT.exec(line)?.[1];
    const name = constant !== undefined && SOUNDS_LIKE_LIMIT.test(constant) ? constant : MEMBER.exec(line)?.[1];
    return name === undefined || INTERVAL.test(name) ? [] : [`${file} ${name}`];
  });
}

/** The example data and their provider are no part of a gateway's work. */
function listSources(): string[] {
  const files = globSync('**/*.ts', { cwd: join(ROOT, 'src') });
  return files.filter((file) => !file.endsWith('.test.ts') && !/^demo(?:-data)?\//.test(file)).sort();
}

const limits = readLimits();
const bounds = listSources().flatMap(listBounds);
const excepted = Object.values(NOT_LIMITS).flat();

test('all rows are read, and no limit stands there twice', () => {
  expect(limits.length).toBeGreaterThanOrEqual(380);
  const names = limits.map(({ file, name }) => `${file} ${name}`);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});

test.each(limits)('$what ($name)', ({ stated, file, name }) => {
  expect(stated).toBeCloseTo(readConstant(file, name), 6);
});

test('every bound of the code is in the document, or no limit for a reason that is given', () => {
  const known = new Set([...limits.map(({ file, name }) => `${file} ${name}`), ...excepted]);
  expect(bounds.filter((bound) => !known.has(bound))).toEqual([]);
});

test('what is excepted is there', () => {
  expect(bounds.length).toBeGreaterThan(300);
  expect(excepted.filter((name) => !bounds.includes(name))).toEqual([]);
});
