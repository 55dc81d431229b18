/**
 * Two builders may take the same number. Migrations run in the order of their names, so two with one number would run in
 * an order that nobody chose; of two decisions with one number nobody knows which is meant.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test.each(['migrations', 'docs/decisions'])('what is numbered in %s has a number of its own', (folder) => {
  const names = readdirSync(join(import.meta.dirname, '../..', folder)).filter((name) => /^\d{4}/.test(name));
  const numbers = names.map((name) => name.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});
