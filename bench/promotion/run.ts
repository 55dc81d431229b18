/**
 * `npm run bench:promotion`: promotes a metadata key of a large log in a whole gateway, kills the control process in the
 * middle, counts everything again, and sets the proxy's latency during it beside the undisturbed one. Exit code 1 when
 * a call or a roll-up is not as it should be.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { startGateway, type TestGateway, waitUntil } from '../../test/gateway/start-gateway.ts';
import { embeddedUrl } from '../kill/gateway-database.ts';
import { makeCalls } from './make-calls.ts';
import { type Promotion, promoteAndKill } from './promote.ts';
import { type Recount, recount } from './recount.ts';
import { type Latencies, measureDuring, startPlainProvider } from './steady-calls.ts';

const USAGE = `npm run bench:promotion -- [options]
  --rows N       calls in the log (1000000)
  --rate N       calls a second through the proxy meanwhile (50)
  --quiet N      seconds of the undisturbed run (30)
  --json         the results as JSON on standard output`;

const { values: options } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rate: { type: 'string', default: '50' },
    quiet: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const KEY = 'Feature';
const WARM_UP_MS = 3_000;
const DRAIN_LIMIT_MS = 120_000;
const WORK_LIMIT_MS = 3_600_000;
const say = (text: string) => process.stderr.write(`${text}\n`);

interface Result {
  readonly rows: number;
  readonly undisturbed: Latencies;
  readonly during: Latencies;
  readonly promotion: Promotion;
  readonly recount: Recount;
  /** Of a page of the log, filtered by the key: before and after. */
  readonly filterMs: { readonly before: number; readonly after: number };
  readonly faults: readonly string[];
}

async function timeFilter(gateway: TestGateway): Promise<number> {
  const startedMs = performance.now();
  // A value that nothing has: the whole log is looked through, or the index says so.
  await gateway.api(`/api/v1/logs?limit=50&f=metadata.${KEY}:eq:nothing`);
  return Math.round(performance.now() - startedMs);
}

async function measure(gateway: TestGateway, client: pg.Client): Promise<Result> {
  const rows = Number(options.rows);
  const load = { port: gateway.port, gatewayKey: gateway.key, callsPerSecond: Number(options.rate) };
  const madeMs = performance.now();
  await makeCalls(client, rows, Date.now());
  say(`${rows} calls made in ${Math.round((performance.now() - madeMs) / 1_000)} s`);
  await measureDuring(load, () => sleep(WARM_UP_MS));
  const before = await timeFilter(gateway).catch(() => Number.NaN);
  const { latencies: undisturbed } = await measureDuring(load, () => sleep(Number(options.quiet) * 1_000));
  say(`undisturbed: p50 ${undisturbed.p50Ms.toFixed(2)} ms`);
  const { done: promotion, latencies: during } = await measureDuring(load, () =>
    promoteAndKill(gateway, KEY, WORK_LIMIT_MS, say),
  );
  const after = await timeFilter(gateway);
  await waitUntilStored(client);
  const counted = await recount(client, KEY);
  return {
    rows,
    undisturbed,
    during,
    promotion,
    recount: counted,
    filterMs: { before, after },
    faults: faultsOf(during, counted),
  };
}

/** Every call through the proxy is in the log: nothing is open, and the count stays. */
async function waitUntilStored(client: pg.Client): Promise<void> {
  let last = '';
  await waitUntil(
    'all calls are stored',
    async () => {
      await sleep(1_000);
      const { rows } = await client.query<{ state: string }>(
        `select (select count(*) from llm_open_calls) || ' ' || (select sum(calls) from llm_metadata_hourly where key = '') as state`,
      );
      const state = rows[0]?.state ?? '';
      const isSame = state === last;
      last = state;
      return isSame && state.startsWith('0 ') ? true : undefined;
    },
    DRAIN_LIMIT_MS,
  );
}

function faultsOf(during: Latencies, counted: Recount): string[] {
  const faults: string[] = [];
  if (during.failed > 0) faults.push(`${during.failed} calls failed at the client`);
  if (counted.promoted !== counted.withKey)
    faults.push(`${counted.withKey} calls have the key, ${counted.promoted} have it promoted`);
  if (counted.differences > 0) faults.push(`${counted.differences} differences between roll-ups and records`);
  return faults;
}

function format(result: Result): string {
  const { promotion, undisturbed, during, filterMs } = result;
  const seconds = promotion.durationMs / 1_000;
  return [
    `calls in the log            ${result.recount.calls}, ${result.recount.withKey} with the key`,
    `promotion                   ${(seconds / 60).toFixed(2)} min, ${Math.round(promotion.rows / seconds)} rows/s`,
    `killed (SIGKILL) after      ${promotion.doneAtKill} rows; went on by itself after ${(promotion.resumedAfterMs / 1_000).toFixed(1)} s`,
    `full recount                ${result.faults.length === 0 ? 'equal' : result.faults.join('; ')}`,
    `proxy p50                   ${during.p50Ms.toFixed(2)} ms during, ${undisturbed.p50Ms.toFixed(2)} ms undisturbed (${(during.p50Ms / undisturbed.p50Ms).toFixed(2)}×)`,
    `proxy p99                   ${during.p99Ms.toFixed(2)} ms during, ${undisturbed.p99Ms.toFixed(2)} ms undisturbed`,
    `calls during                ${during.calls}, ${during.failed} failed`,
    `a filter that finds nothing ${Number.isNaN(filterMs.before) ? 'gave up' : `${filterMs.before} ms`} before, ${filterMs.after} ms after`,
  ].join('\n');
}

async function run(): Promise<void> {
  const provider = await startPlainProvider();
  const gateway = await startGateway({ env: { TOLLGATE_UPSTREAM_OPENAI: provider.origin } });
  const client = new pg.Client({ connectionString: embeddedUrl(gateway.dataDir) });
  try {
    await client.connect();
    const result = await measure(gateway, client);
    process.stdout.write(`${options.json ? JSON.stringify(result, null, 2) : format(result)}\n`);
    process.exitCode = result.faults.length === 0 ? 0 : 1;
  } finally {
    await client.end();
    await gateway.stop();
    provider.close();
  }
}

if (options.help) process.stdout.write(`${USAGE}\n`);
else await run();
