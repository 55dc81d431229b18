/** Migrations run in the order of their names, so two with one number would run in an order that nobody chose. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('each migration has a number of its own, and none is left out', () => {
  const names = readdirSync(join(import.meta.dirname, '../../migrations')).sort();
  expect(names.map((name) => Number(name.slice(0, 4)))).toEqual(names.map((_, index) => index + 1));
});
