/**
 * `npm run bench:upgrade`: two nodes upgraded under load from the release before, taken back, and upgraded again. Exit
 * code 1 when a call was lost, refused, stored twice or wrong.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { unpackRelease } from '../../test/support/upgrade/unpack-release.ts';
import { describeFaults, formatResult } from './report.ts';
import { runUpgrade } from './run-upgrade.ts';

const USAGE = `npm run bench:upgrade -- [options]
  --release DIR     the release before, as a folder from which it runs (that of test/support/upgrade/)
  --up HOW          one-by-one, or beside: two new nodes join at once, then the old ones go (one-by-one)
  --rate N          calls a second (20)
  --rest SECONDS    undisturbed, between two moves (10)
  --every MS        the balancer asks so often, and believes what it was told twice (1000)
  --delay SECONDS   TOLLGATE_STOP_DELAY_SECONDS (5)
  --seed N          of the calls (1)
  --log FILE        where to write what the gateways print`;

const { values: options } = parseArgs({
  options: {
    release: { type: 'string' },
    up: { type: 'string', default: 'one-by-one' },
    rate: { type: 'string', default: '20' },
    rest: { type: 'string', default: '10' },
    every: { type: 'string', default: '1000' },
    delay: { type: 'string', default: '5' },
    seed: { type: 'string', default: '1' },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function run(): Promise<void> {
  const kept = options.release === undefined ? unpackRelease() : null;
  try {
    const result = await runUpgrade({
      before: options.release ?? kept?.path ?? '',
      seed: Number(options.seed),
      callsPerSecond: Number(options.rate),
      everyMs: Number(options.every),
      stopDelaySeconds: Number(options.delay),
      restMs: Number(options.rest) * 1_000,
      up: options.up === 'beside' ? 'beside' : 'one by one',
      say: (text) => process.stderr.write(`${text}\n`),
    });
    if (options.log !== undefined)
      writeFileSync(options.log, [...result.logs].map(([name, text]) => `== ${name}\n${text}`).join('\n'));
    process.stdout.write(`${formatResult(result)}\n`);
    process.exitCode = describeFaults(result).length === 0 ? 0 : 1;
  } finally {
    kept?.remove();
  }
}

if (options.help) process.stdout.write(`${USAGE}\n`);
else await run();
