/**
 * `npm run bench:dashboard`: what the dashboard weighs, and how a run of many calls feels in a real Chromium. Exit code 1
 * when a budget is broken.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser } from '../../test/browser/browser.ts';
import { openSignedIn } from '../../test/browser/sign-in.ts';
import { startGateway } from '../../test/gateway/start-gateway.ts';
import { median } from '../proxy/statistics.ts';
import { fillRun } from './fill-run.ts';
import { measureFirstLoads } from './first-load.ts';
import { measureRun, type RunFigures } from './measure-run.ts';

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    rounds: { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
});

const USAGE = `npm run bench:dashboard -- [options]
  --calls N    calls of the run (10000)
  --rounds N   times that it is opened, each in a fresh profile (5)`;

const FIRST_LOAD_BUDGET_BYTES = 250_000;
const USABLE_BUDGET_MS = 1_000;
const root = join(import.meta.dirname, '..', '..');
const say = (text: string) => process.stdout.write(`${text}\n`);
const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;

function reportFirstLoads(): boolean {
  spawnSync(process.execPath, [join(root, 'scripts', 'build-dashboard.mjs')], { stdio: 'inherit' });
  const loads = measureFirstLoads(join(root, 'dist', 'dashboard'));
  say('First load, JavaScript (entry and the page):');
  for (const { name, files, gzipBytes, brotliBytes } of loads)
    say(
      `  ${name.padEnd(10)} ${kilobytes(gzipBytes).padStart(9)} gzip ${kilobytes(brotliBytes).padStart(9)} brotli  ${files} files`,
    );
  return loads.every(({ gzipBytes }) => gzipBytes <= FIRST_LOAD_BUDGET_BYTES);
}

async function reportRun(calls: number, rounds: number): Promise<boolean> {
  const gateway = await startGateway({ args: ['--demo'] });
  const browser = await startBrowser();
  try {
    const traceId = 'bench-run';
    await fillRun(gateway, traceId, calls);
    const figures: RunFigures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const profile = await browser.newProfile();
      const page = await openSignedIn(profile, gateway);
      figures.push(await measureRun(page, `${gateway.adminBase}/run?trace=${traceId}`));
      await profile.close();
    }
    say(`A run of ${calls} calls, ${rounds} times (median, worst):`);
    const row = (name: string, read: (one: (typeof figures)[number]) => number, unit: string, worst = Math.max) => {
      const values = figures.map(read);
      say(
        `  ${name.padEnd(46)} ${median(values).toFixed(0).padStart(6)} ${worst(...values)
          .toFixed(0)
          .padStart(6)} ${unit}`,
      );
    };
    row('usable after its data arrived', (one) => one.usableMs, 'ms');
    row('longest task while loading (0: none over 50 ms)', (one) => one.longestLoadTaskMs, 'ms');
    row('tasks over 50 ms in 5 s of scrolling', (one) => one.scrollTasksOver50Ms, '');
    row('longest task while scrolling (0: none over 50 ms)', (one) => one.longestScrollTaskMs, 'ms');
    row('frames a second while scrolling', (one) => one.scrollFramesPerSecond, '', Math.min);
    row('closing all steps', (one) => one.collapseAllMs, 'ms');
    row('heap', (one) => one.heapMb, 'MB');
    return figures.every((one) => one.usableMs < USABLE_BUDGET_MS && one.scrollTasksOver50Ms === 0);
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

if (options.help) say(USAGE);
else {
  const isSmall = reportFirstLoads();
  const isQuick = await reportRun(Number(options.calls), Number(options.rounds));
  say(isSmall && isQuick ? 'Every budget holds.' : 'A budget is broken.');
  process.exitCode = isSmall && isQuick ? 0 : 1;
}
