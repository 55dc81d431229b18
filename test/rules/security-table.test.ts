/** docs/security.md says for each attack which test shows that it is stopped: each of them exists, under that name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| S\d\d /.test(line));

function readTests(row: string): { readonly file: string; readonly title: string }[] {
  return [...row.matchAll(/`([\w./-]+\.test\.ts)` “([^”]+)”/g)].map(([, file = '', title = '']) => ({ file, title }));
}

/** True when the file has a test or a group of that name. */
function hasTest(file: string, title: string): boolean {
  const source = readFileSync(join(root, file), 'utf8');
  return [`'${title}'`, `"${title}"`, `\`${title}\``].some((quoted) => source.includes(`(${quoted},`));
}

test('the table has every attack from S01 to S39 once, in order, each with a test', () => {
  const numbers = rows.map((row) => row.slice(2, 5));
  expect(numbers).toEqual(Array.from({ length: 39 }, (_, index) => `S${String(index + 1).padStart(2, '0')}`));
  expect(rows.filter((row) => readTests(row).length === 0)).toEqual([]);
});

test('every named test exists', () => {
  const missing = rows.flatMap(readTests).filter(({ file, title }) => !hasTest(file, title));
  expect(missing).toEqual([]);
  expect(hasTest('test/rules/security-table.test.ts', 'no such test')).toBe(false);
});
