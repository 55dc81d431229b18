/**
 * Money is never a float. This reads the code that makes, sums and shows it and the types of the database, and finds what
 * could turn an amount, a rate or a factor into one. Counts and times are numbers: each use is listed, with its reason.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Everything that works with money and nothing else. */
const MONEY_CODE = [
  'src/vocabulary/usd.ts',
  'src/vocabulary/cost-status.ts',
  'src/pricing',
  'src/control/prices/declared',
  'src/control/prices/quote',
  'src/control/prices/reprice',
  'src/cli/reconcile/report',
];

const FORBIDDEN = [
  ['parseFloat', /\bparseFloat\b/],
  ['rounding to decimals', /\b(?:toFixed|toPrecision|toExponential)\b/],
  ['Number(…)', /\bNumber\s*\(/],
  ['rounding', /\bMath\.(?:round|floor|ceil|trunc|fround|pow)\b/],
  ['a decimal literal', /(?<![\w.$])\d[\d_]*\.\d|(?<![\w.$])\d[\d_]*e[-+]?\d/i],
  ['money as a number', /\b\w*(?:cost|amount|price|rate|factor|multiplier|usd)s?\??:\s*number\b/i],
] as const satisfies readonly (readonly [string, RegExp])[];

/** What may stand there: a piece of the line, and what makes it harmless. */
const ALLOWED: readonly (readonly [file: string, piece: string, reason: string])[] = [
  ['src/pricing/catalog.ts', 'Number(match[1]) * 60 + Number(match[2])', 'minutes of a clock'],
  ['src/pricing/price-data.ts', 'Number(time.slice(0, 2)) * 60 + Number(time.slice(3))', 'minutes of a clock'],
  ['src/pricing/decimal.ts', 'Number(exponent)', 'the exponent of a decimal, at most three digits'],
  ['src/pricing/price-row.ts', 'Math.floor(atMs / MINUTE_MS)', 'whole minutes of an instant'],
  ['src/pricing/price-row.ts', 'Math.floor(minutes / DAY_MINUTES)', 'whole days of an instant'],
  ['src/control/prices/declared/count-unpriced.ts', 'Number(reported ?? 0)', 'a sum of tokens'],
  ['src/control/prices/declared/preview-calls.ts', 'Math.floor((endMs - 1) / DAY_MS)', 'whole days of an instant'],
  ['src/control/prices/declared/price-status.ts', 'readonly multipliers: number;', 'how many were declared'],
  ['src/control/prices/declared/price-status.ts', 'Math.floor((nowMs - checkedMs) / DAY_MS)', 'an age in days'],
  [
    'src/control/prices/reprice/day-sums.ts',
    'Math.floor(call.row.requested_at.getTime() / DAY_MS)',
    'whole days of an instant',
  ],
  [
    'src/control/prices/quote/unread-usage.ts',
    'Number(value) < 0 || Number(value) > Number.MAX_SAFE_INTEGER',
    'a count of tokens',
  ],
  ['src/control/prices/quote/unread-usage.ts', 'Number(value) !== 0 &&', 'a count of tokens'],
  ['src/control/prices/quote/unread-usage.ts', 'String(Number(value) + 1)', 'a count of tokens'],
  ['src/control/prices/quote/unread-usage.ts', 'holder[Number(name)]', 'an index'],
  ['src/cli/reconcile/report/report-amount.ts', 'Number(exponent)', 'the exponent of a decimal'],
];

/** Anywhere else an amount may not be turned into a float either. */
const MONEY_TO_FLOAT =
  /\b(?:parseFloat|Number|Math\.\w+)\(\s*(?:parseUsd\(|formatUsd\()?[\w.[\]'"]*(?:cost|amount|usd|pico)\b/i;

function listCode(path: string): readonly string[] {
  const absolute = join(ROOT, path);
  if (!existsSync(absolute)) return [];
  if (path.endsWith('.ts')) return [path];
  return readdirSync(absolute, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(path, name))
    .sort();
}

const onlyLineEnds = (text: string) => text.replace(/[^\n]/g, '');

/** Of a template what is between the placeholders goes, and its line ends stay. */
function readTemplate(template: string): string {
  return template.replace(/\$\{([^}]*)\}|[^$]|\$/g, (piece, code: string | undefined) => code ?? onlyLineEnds(piece));
}

/** Without comments and the text of strings: `'0.5'` is a decimal, 0.5 is a float. */
function readCode(text: string): readonly string[] {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, onlyLineEnds)
    .replace(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replace(/`[^`]*`/g, readTemplate)
    .replace(/(^|[^:])\/\/.*$/gm, '$1')
    .split('\n');
}

function findFloats(file: string, text: string): readonly string[] {
  return readCode(text).flatMap((line, index) => {
    const allowed = ALLOWED.filter(([allowedFile]) => allowedFile === file);
    const rest = allowed.reduce((left, [, piece]) => left.replaceAll(piece, ''), line);
    return FORBIDDEN.filter(([, pattern]) => pattern.test(rest)).map(
      ([name]) => `${file}:${index + 1}: ${name}: ${line.trim()}`,
    );
  });
}

describe('the code of prices', () => {
  const files = MONEY_CODE.flatMap(listCode);

  it('has no float in it', () => {
    expect(files).toContain('src/pricing/decimal.ts');
    expect(files.flatMap((file) => findFloats(file, readFileSync(join(ROOT, file), 'utf8')))).toEqual([]);
  });

  it('lists no exception that is not there any more', () => {
    for (const [file, piece, reason] of ALLOWED.filter(([name]) => existsSync(join(ROOT, name)))) {
      expect([piece, readFileSync(join(ROOT, file), 'utf8').includes(piece)]).toEqual([piece, true]);
      expect(reason.length).toBeGreaterThan(7);
    }
  });

  it.each([
    ['const cents = Math.round(total * 100);', 'rounding'],
    ['const half = rate * 0.5;', 'a decimal literal'],
    ['const tiny = 1e-6;', 'a decimal literal'],
    ["return Number(line.amount) + parseFloat('1');", 'parseFloat'],
    ['readonly total_cost: number;', 'money as a number'],
    [['text += `it costs ', '{(pico / 2).toFixed(2)}`;'].join('$'), 'rounding to decimals'],
  ])('would be told of %s', (line, name) => {
    expect(findFloats('src/pricing/made-up.ts', line).join('\n')).toContain(name);
  });

  it.each([
    "const rate = '0.5'; // 0.5 of it",
    'const limit = 1_000_000; const third = rows[1].rate;',
    '/** Costs 1.25 times Number(x). */ const text = `0.85 for 15 % off`;',
    'readonly quantity: number; readonly per: number;',
  ])('is not told of %s', (line) => {
    expect(findFloats('src/pricing/made-up.ts', line)).toEqual([]);
  });
});

describe('the rest of the gateway', () => {
  it('turns no amount into a float', () => {
    const found = listCode('src').flatMap((file) =>
      readCode(readFileSync(join(ROOT, file), 'utf8')).flatMap((line, index) =>
        MONEY_TO_FLOAT.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [],
      ),
    );
    expect(found).toEqual([]);
  });

  it('asks the database for no float of an amount', () => {
    const found = listCode('src').flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) =>
          /(?:cost|amount|price|rate)\w*\)*::(?:float|real|double|money)/i.test(line)
            ? [`${file}:${index + 1}: ${line.trim()}`]
            : [],
        ),
    );
    expect(found).toEqual([]);
  });
});

/** Columns that are floats, and why no money is in them. */
const FLOAT_COLUMNS: Readonly<Record<string, string>> = {
  'jobs.rate_per_second': 'how fast a job goes',
};
const FLOAT_TYPE = /^(?:float[48]?|real|double precision|money)\b/i;
const MONEY_COLUMN = /\.\w*(?:_cost|amount|_usd)$/i;
/** Sums of it are wider. */
const MONEY_TYPE = /^numeric\((?:24|36),12\)/i;

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Columns as the migrations declare them: `create table` and `add column`, one a line. */
function readColumns(sql: string): readonly Column[] {
  const columns: Column[] = [];
  let table = '';
  for (const line of sql.split('\n')) {
    const opened = /^\s*(?:create (?:unlogged )?table(?: if not exists)?|alter table(?: only)?) (\w+)/i.exec(line)?.[1];
    if (opened !== undefined) table = opened;
    const column =
      /^\s*(?:alter table \w+ )?(?:add column(?: if not exists)? )?(\w+) ([a-z]\w*(?: precision)?(?:\(\d+(?:, ?\d+)?\))?)/i.exec(
        line,
      );
    if (column?.[1] !== undefined && column[2] !== undefined)
      columns.push({ name: `${table}.${column[1]}`, type: column[2] });
  }
  return columns;
}

function findWrongColumns(columns: readonly Column[]): readonly string[] {
  return columns
    .filter(({ name, type }) =>
      FLOAT_TYPE.test(type) ? FLOAT_COLUMNS[name] === undefined : MONEY_COLUMN.test(name) && !MONEY_TYPE.test(type),
    )
    .map(({ name, type }) => `${name} ${type}`);
}

describe('the database', () => {
  const folder = join(ROOT, 'migrations');
  const columns = readdirSync(folder).flatMap((file) => readColumns(readFileSync(join(folder, file), 'utf8')));

  it('holds money as numeric(24,12), sums of it as numeric(36,12), and nothing of it as a float', () => {
    expect(columns.filter(({ type }) => MONEY_TYPE.test(type)).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['llm_requests.total_cost', 'llm_runs.total_cost', 'llm_cost_hourly.total_cost']),
    );
    expect(findWrongColumns(columns)).toEqual([]);
  });

  it('would be told of a float, of money in another type, and of a column that is added later', () => {
    const sql =
      'create table bills (\n  total_cost numeric(12,2),\n  speed float8,\n  note text\n);\nalter table bills\n  add column paid_amount double precision;';
    expect(findWrongColumns(readColumns(sql))).toEqual([
      'bills.total_cost numeric(12,2)',
      'bills.speed float8',
      'bills.paid_amount double precision',
    ]);
  });

  it('lists no float that is not there any more', () => {
    const floats = columns.filter(({ type }) => FLOAT_TYPE.test(type)).map(({ name }) => name);
    expect(floats.sort()).toEqual(Object.keys(FLOAT_COLUMNS).sort());
  });
});
