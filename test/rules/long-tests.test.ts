/** That `npm test` and `npm run test:long` leave nothing out between them. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LONG_BROWSER_TESTS, LONG_GATEWAY_TESTS, listPostgresTests } from '../support/long-tests.ts';

test('each file that is left for npm run test:long is there', () => {
  expect([...LONG_GATEWAY_TESTS, ...LONG_BROWSER_TESTS].filter((path) => !existsSync(path))).toEqual([]);
});

test('tests for each kind of PostgreSQL are all repeated on the other; the rest take the first kind, or all themselves', () => {
  const repeated = new Set(listPostgresTests());
  expect(repeated.size).toBeGreaterThan(30);
  const others = globSync('test/{browser,corpus,database,fronts,gateway,process,proxy}/**/*.test.ts').filter((path) => {
    const text = readFileSync(path, 'utf8');
    return /\bPOSTGRES_KINDS\b/.test(text) && !repeated.has(path);
  });
  const unclear = others.filter((path) => {
    const uses = readFileSync(path, 'utf8').match(/.*\bPOSTGRES_KINDS\b.*/g) ?? [];
    return !uses.every((line) => /^import |const \[kind\] = POSTGRES_KINDS;$/i.test(line));
  });
  expect(unclear).toEqual([]);
});
