import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');

/** Rows that name a test that is not there. */
function findMissing(doc: string): string[] {
  return [...doc.matchAll(/`([\w./-]+\.test\.ts)`: ([^|]+?)\)?[ .]*(?:\||\n)/g)].flatMap(
    ([, file = '', title = '']) => {
      const path = join(PROJECT, file);
      return existsSync(path) && readFileSync(path, 'utf8').includes(title) ? [] : [`${file}: ${title}`];
    },
  );
}

test('every rule of docs/http-rules.md names a test that exists', () => {
  const doc = readFileSync(join(PROJECT, 'docs/http-rules.md'), 'utf8');
  const rows = doc.split('\n').filter((line) => /^\| (?!Rule|-)/.test(line));
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) expect(row).toMatch(/\| `[\w./-]+\.test\.ts`: \S/);
  expect(findMissing(doc)).toEqual([]);
});

test('a row whose test is gone is found', () => {
  const title = ['no such', 'title here'].join(' ');
  expect(findMissing(`| a | b | \`test/rules/http-rules.test.ts\`: ${title} |\n`)).toHaveLength(1);
});
