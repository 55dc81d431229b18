/**
 * `npm run bench:reprice`: prices every call of a large log again in a whole gateway, dry and for good, with a steady load
 * through the proxy meanwhile and undisturbed stretches between. Exit code 1 when a roll-up is not as it should be.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { verifyRollups } from '../../src/runs/verify-rollups.ts';
import { startGateway, type TestGateway } from '../../test/gateway/start-gateway.ts';
import { embeddedUrl } from '../kill/gateway-database.ts';
import { makeCalls } from '../promotion/make-calls.ts';
import { type Latencies, measureDuring, startPlainProvider } from '../promotion/steady-calls.ts';
import { median } from '../proxy/statistics.ts';
import { declarePrices, type Repriced, reprice } from './reprice.ts';
import { type Memory, watchMemory } from './watch-memory.ts';

const USAGE = `npm run bench:reprice -- [options]
  --rows N       calls in the log (1000000)
  --rate N       calls a second through the proxy meanwhile (50)
  --quiet N      seconds of each undisturbed stretch (20)
  --json         the results as JSON on standard output`;

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '50' },
    quiet: { type: 'string', default: '20' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const WARM_UP_MS = 3_000;
const WORK_LIMIT_MS = 3_600_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

interface Phase extends Repriced {
  readonly name: string;
  readonly latencies: Latencies;
  readonly memory: Memory;
  /** The median latency of the stretches before and after it. */
  readonly undisturbedP50Ms: number;
}

async function controlPid(gateway: TestGateway): Promise<number> {
  const control = (await gateway.processes()).find(({ role }) => role === 'control');
  if (control?.pid == null) throw new Error('no control process');
  return control.pid;
}

async function measure(gateway: TestGateway, client: pg.Client): Promise<readonly Phase[]> {
  const rows = Number(options.rows);
  const load = { port: gateway.port, gatewayKey: gateway.key, callsPerSecond: Number(options.rate) };
  const measureQuiet = async () => (await measureDuring(load, () => sleep(Number(options.quiet) * 1_000))).latencies;
  const madeMs = performance.now();
  await makeCalls(client, rows, Date.now());
  say(`${rows} calls made in ${Math.round((performance.now() - madeMs) / 1_000)} s`);
  const pid = await controlPid(gateway);
  await measureDuring(load, () => sleep(WARM_UP_MS));
  await declarePrices(gateway, '1');
  const phases: Phase[] = [];
  let before = await measureQuiet();
  for (const [name, isDryRun] of [
    ['dry run', true],
    ['apply', false],
    ['apply again', false],
  ] as const) {
    const watching = watchMemory(pid);
    const { done: repriced, latencies } = await measureDuring(load, () => reprice(gateway, isDryRun, WORK_LIMIT_MS));
    const memory = watching.stop();
    const after = await measureQuiet();
    say(`${name}: ${repriced.changed} of ${repriced.calls} calls in ${repriced.seconds.toFixed(1)} s`);
    phases.push({ name, ...repriced, latencies, memory, undisturbedP50Ms: median([before.p50Ms, after.p50Ms]) });
    before = after;
  }
  return phases;
}

function formatPhase({ name, calls, changed, seconds, latencies, memory, undisturbedP50Ms }: Phase): string {
  const ratio = latencies.p50Ms / undisturbedP50Ms;
  const [first, second] = memory.halvesMb;
  return [
    name,
    `  calls          ${calls}, ${changed} changed`,
    `  time           ${seconds.toFixed(1)} s, ${Math.round(calls / seconds)} rows/s`,
    `  proxy p50      ${ratio.toFixed(2)}× (${latencies.p50Ms.toFixed(2)} ms, undisturbed ${undisturbedP50Ms.toFixed(2)} ms); p99 ${latencies.p99Ms.toFixed(2)} ms; ${latencies.failed} of ${latencies.calls} failed`,
    `  control, peak  ${(memory.peakMb / memory.startMb).toFixed(2)}× of its start (${Math.round(memory.peakMb)} MB of ${Math.round(memory.startMb)} MB)`,
    `  second half    ${(second / first).toFixed(2)}× of the first (${Math.round(second)} MB, ${Math.round(first)} MB)`,
  ].join('\n');
}

async function run(): Promise<void> {
  const provider = await startPlainProvider();
  const gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
  const client = new pg.Client({ connectionString: embeddedUrl(gateway.dataDir) });
  try {
    await client.connect();
    const phases = await measure(gateway, client);
    const differences = (await verifyRollups(client)).length;
    const text = `${phases.map(formatPhase).join('\n')}\nroll-ups           ${differences === 0 ? 'equal' : `${differences} differences`}`;
    process.stdout.write(`${options.json ? JSON.stringify({ phases, differences }, null, 2) : text}\n`);
    process.exitCode = differences === 0 ? 0 : 1;
  } finally {
    await client.end();
    await gateway.stop();
    provider.close();
  }
}

if (options.help) process.stdout.write(`${USAGE}\n`);
else await run();
