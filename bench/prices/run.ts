/**
 * `npm run prices:coverage`: the price book beside public catalogs given as files. Asks nobody on the network. Exit
 * code 1 when `--require` is not met, 2 when a file or an option cannot be read.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { findNotedModel } from '../../src/pricing/noted-models.ts';
import { createPriceBook } from '../../src/pricing/price-book.ts';
import { compareCoverage } from './compare-coverage.ts';
import { formatCoverage } from './format-coverage.ts';
import { readCatalog } from './read-catalog.ts';
import { listShortfalls, parseThresholds } from './thresholds.ts';

const USAGE = `npm run prices:coverage -- FILE... [options]
  FILE            a catalog: litellm, models.dev, genai-prices, Portkey, langfuse, or a CSV (docs/price-refresh.md)
  --at TIME       the prices of this day or instant, UTC (now)
  --require LIST  exit code 1 below these shares of what two catalogs price, or at a disagreement without a
                  reason: 98, or openai=98,together=95
  --details       lists of everything, not only of disagreements without a reason
  --json          the results as JSON on standard output`;

function readAt(text: string | undefined): number {
  if (text === undefined) return Date.now();
  const atMs = Date.parse(text);
  if (Number.isNaN(atMs)) throw new Error(`--at: "${text}" is no day or instant such as 2026-11-29`);
  return atMs;
}

function run(): number {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      at: { type: 'string' },
      require: { type: 'string' },
      details: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help || positionals.length === 0) {
    process.stdout.write(`${USAGE}\n`);
    return values.help ? 0 : 2;
  }
  const atMs = readAt(values.at);
  const thresholds = values.require === undefined ? {} : parseThresholds(values.require);
  const day = new Date(atMs).toISOString().slice(0, 10);
  const catalogs = positionals.map((path) => readCatalog(path, readFileSync(path, 'utf8'), day));
  const coverage = compareCoverage(catalogs, { book: createPriceBook(), atMs }, findNotedModel);
  process.stdout.write(`${values.json ? JSON.stringify(coverage) : formatCoverage(coverage, values.details)}\n`);
  const shortfalls = listShortfalls(coverage, thresholds);
  for (const line of shortfalls) process.stderr.write(`${line}\n`);
  return shortfalls.length === 0 ? 0 : 1;
}

try {
  process.exitCode = run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
