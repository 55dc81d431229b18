/** A few hundred cases of each check of `npm run fuzz`, always the same ones: that the checks work, and that nothing simple broke. */
import { expect, test } from 'vitest';
import { fuzzChecks } from '../corpus/fuzz.ts';

const SEED = 1;
const CASES = 200;

test.each(fuzzChecks(CASES, SEED))('whatever is thrown at it, this holds: $name', async ({ run }) => {
  expect((await run()).findings).toEqual([]);
});
