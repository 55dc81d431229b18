import { expect, test } from 'vitest';
import { countConnections, readOpenFileLimit } from './open-file-limit.ts';

test.each([
  [256, 64],
  [1_024, 448],
  [20_000, 9_936],
  [1_048_576, 20_000],
  [null, 20_000],
  [64, 16],
])('of %j open files the clients may take %i connections, the providers as many, and some are left', (files, most) =>
  expect(countConnections(files)).toBe(most),
);

test('the limit of this process is a number of files, or unknown', () => {
  const limit = readOpenFileLimit();
  expect(limit === null || (Number.isInteger(limit) && limit >= 64)).toBe(true);
});
