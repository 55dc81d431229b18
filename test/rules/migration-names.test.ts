/** Migrations run in the order of their names, so two with one number would run in an order that nobody chose. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('each migration has a number of its own', () => {
  const names = readdirSync(join(import.meta.dirname, '../../migrations'));
  const numbers = names.map((name) => name.slice(0, 4));
  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
});
