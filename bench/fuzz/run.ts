/**
 * `npm run fuzz`: random and mutated input for everything that reads bytes from outside. What is fuzzed and what must
 * hold: ../README.md. Exit code 1 when something does not.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { FuzzResult } from './target.ts';
import { FUZZ_TARGETS } from './targets.ts';

const USAGE = `npm run fuzz -- [options]
  --cases N     for the targets that take all of them (default 20000)
  --seed N      to repeat a run; otherwise a new one, which is printed
  --only TEXT   targets whose name holds it`;

const DEFAULT_CASES = 20_000;

const { values: options } = parseArgs({
  options: {
    cases: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function printRow({ name, cases, seconds, worstMs, finding }: FuzzResult): void {
  const figures = [
    String(cases).padStart(9),
    seconds.toFixed(1).padStart(9),
    worstMs.toFixed(1).padStart(9),
    (finding === null ? 'none' : 'FOUND').padStart(9),
  ];
  console.log(`${name.padEnd(34)}${figures.join('')}`);
  if (finding !== null) console.log(`  ${finding.text}`);
}

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const cases = Number(options.cases ?? DEFAULT_CASES);
  const seed = Number(options.seed ?? randomInt(2 ** 31));
  console.log(`seed ${seed}\n\n${''.padEnd(34)}    cases        s  worst ms findings`);
  for (const target of FUZZ_TARGETS.filter(({ name }) => name.includes(options.only ?? ''))) {
    const result = await target.run(Math.ceil(cases * target.share), seed);
    printRow(result);
    if (result.finding !== null) process.exitCode = 1;
  }
}

await main();
