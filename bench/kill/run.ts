/**
 * `npm run bench:kill`: kills the gateway's processes under load, and takes its database away, and counts what was
 * lost. Nothing may be. Exit code 1 when something was.
 */
import { parseArgs } from 'node:util';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { type DownResult, runKillsWhileStopped, runStopped, runSuspended } from './database-down.ts';
import { type KillResult, runKillPhase, VICTIMS, type Victim } from './kill-phase.ts';
import { formatTable } from './report.ts';
import { openStage } from './stage.ts';

const USAGE = `npm run bench:kill -- [options]
  --proxy N --control N --postgres N --supervisor N   kills of each (20, 20, 5, 3)
  --down SECONDS   the database is away for so long, suspended and then stopped (60; 0 for not at all)
  --database-down  only the proxy is killed, and the database is stopped before the first kill and started after the last
  --clients N      concurrent clients (24)
  --seed N         of the calls and of the moments of the kills (1)
  --json           the results as JSON on standard output`;

const { values: options } = parseArgs({
  options: {
    proxy: { type: 'string', default: '20' },
    control: { type: 'string', default: '20' },
    postgres: { type: 'string', default: '5' },
    supervisor: { type: 'string', default: '3' },
    down: { type: 'string', default: '60' },
    'database-down': { type: 'boolean', default: false },
    clients: { type: 'string', default: '24' },
    seed: { type: 'string', default: '1' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const seed = Number(options.seed);
const clients = Number(options.clients);
const downMs = Number(options.down) * 1_000;
const WARM_UP_MS = 15_000;
const MAX_RSS_GROWTH_MB = 64;
const say = (text: string) => process.stderr.write(`${text}\n`);

async function runKills(): Promise<KillResult[]> {
  const counts: Readonly<Record<Victim, number>> = {
    proxy: Number(options.proxy),
    control: Number(options.control),
    postgres: Number(options.postgres),
    supervisor: Number(options.supervisor),
  };
  const victims = VICTIMS.filter((victim) => counts[victim] > 0);
  if (victims.length === 0) return [];
  const random = createSeededRandom(seed);
  const stage = await openStage({ seed, clients });
  const results: KillResult[] = [];
  try {
    for (const victim of victims) {
      say(`${victim}: ${counts[victim]} kills`);
      results.push(await runKillPhase(stage, victim, counts[victim], random));
    }
  } finally {
    await stage.close();
  }
  return results;
}

async function runDowns(): Promise<DownResult[]> {
  if (downMs === 0) return [];
  const how = { seed, clients, warmUpMs: WARM_UP_MS, downMs, maxRssGrowthMb: MAX_RSS_GROWTH_MB };
  say(`database suspended for ${options.down} s`);
  const suspended = await runSuspended(how);
  say(`database stopped for ${options.down} s`);
  return [suspended, await runStopped(how)];
}

async function runAll(): Promise<{ kills: KillResult[]; downs: DownResult[] }> {
  if (!options['database-down']) return { kills: await runKills(), downs: await runDowns() };
  const kills = Number(options.proxy);
  say(`proxy: ${kills} kills while the database is down`);
  return { kills: [await runKillsWhileStopped({ seed, clients }, kills, createSeededRandom(seed))], downs: [] };
}

if (options.help) {
  process.stdout.write(`${USAGE}\n`);
} else if (process.platform !== 'linux') {
  say('This benchmark reads /proc: it runs on Linux only.');
  process.exitCode = 2;
} else {
  const { kills, downs } = await runAll();
  const isLossless = [...kills, ...downs].every((result) => result.faults.length === 0);
  process.stdout.write(
    `${options.json ? JSON.stringify({ seed, clients, kills, downs }, null, 2) : formatTable(kills, downs)}\n`,
  );
  process.exitCode = isLossless ? 0 : 1;
}
