/** A few hundred cases of each target of `npm run fuzz`, always the same ones: that the targets work, and that nothing simple broke. */
import { expect, test } from 'vitest';
import { FUZZ_TARGETS } from '../bench/fuzz/targets.ts';

const SEED = 1;
const CASES = 200;

test.each(FUZZ_TARGETS)('whatever is thrown at it, this holds: $name', async ({ run, share }) => {
  const { finding } = await run(Math.ceil(CASES * share), SEED);
  expect(finding).toBe(null);
});
