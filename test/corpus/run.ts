/**
 * `npm run corpus` and `npm run fuzz`: what is thrown at everything that reads bytes from outside, as replayed cases or as
 * random ones. Prints a row for each check; exit code 1 when anything is not as it has to be. ../../bench/README.md.
 */
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { atLineEnds, BYTE_BY_BYTE, WHOLE } from './bytes.ts';
import type { Check } from './check.ts';
import { corpusChecks } from './corpus.ts';
import { fuzzChecks } from './fuzz.ts';

const USAGE = `npm run corpus -- [--only TEXT]
npm run fuzz -- [options]
  --cases N     for the checks that take all of them (default 20000)
  --seed N      to repeat a run; otherwise a new one, which is printed
  --only TEXT   checks whose name holds it`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    cases: { type: 'string', default: '20000' },
    seed: { type: 'string' },
    only: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

function chooseChecks(way: string | undefined): readonly Check[] {
  if (way === 'corpus')
    return corpusChecks([WHOLE, ...[1, 2, 3].map(atLineEnds), BYTE_BY_BYTE], ['HTTP/1.1', 'HTTP/1.0', 'HTTP/2']);
  const seed = Number(options.seed ?? randomInt(2 ** 31));
  console.log(`seed ${seed}\n`);
  return fuzzChecks(Number(options.cases), seed);
}

const printRow = (name: string, ...cells: readonly string[]): void =>
  console.log(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(10)).join('')}`);

async function main(): Promise<void> {
  const uncaught: string[] = [];
  process.on('uncaughtException', (error) => uncaught.push(`uncaught: ${error.stack ?? error.message}`));
  process.on('unhandledRejection', (reason) => uncaught.push(`unhandled: ${String(reason)}`));
  const checks = chooseChecks(positionals[0]).filter(({ name }) => name.includes(options.only));
  const totals = { cases: 0, exchanges: 0, findings: 0 };
  printRow('', 'cases', 'exchanges', 's', 'worst ms', 'findings');
  for (const { name, run } of checks) {
    const startedMs = performance.now();
    const { cases, exchanges, worstMs, findings, notes } = await run();
    const seconds = (performance.now() - startedMs) / 1_000;
    printRow(name, `${cases}`, `${exchanges}`, seconds.toFixed(1), worstMs.toFixed(1), `${findings.length || 'none'}`);
    for (const note of notes) console.log(`  ${note}`);
    for (const finding of findings) console.log(`  FOUND ${finding}`);
    totals.cases += cases;
    totals.exchanges += exchanges;
    totals.findings += findings.length;
  }
  for (const fault of uncaught) console.log(fault);
  console.log(
    `\n${totals.cases} cases, ${totals.exchanges} exchanges, ${totals.findings} findings, ${uncaught.length} uncaught`,
  );
  process.exitCode = totals.findings + uncaught.length === 0 ? 0 : 1;
}

if (options.help) console.log(USAGE);
else await main();
