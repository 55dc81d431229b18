/**
 * `npm run bench:beside`: how long calls take while the gateway does something else over a large log, beside the same
 * calls undisturbed and with everything but the proxy stopped. Prints ratios; asserts nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeAnswers } from '../proxy/answers.ts';
import { listDescendants } from '../proxy/process-figures.ts';
import { buildPrograms, type Percentiles, runLoad, startMock } from '../proxy/programs.ts';
import { requestBytes } from '../proxy/variants.ts';
import { openStage, type Stage } from '../queries/stage.ts';
import { DISTURBANCES, type Disturbance } from './disturbances.ts';

const USAGE = `npm run bench:beside -- [options]
  --calls SIZE     of the log (1m)
  --data DIR       of bench:queries: uses the log that is there
  --rates LIST     calls a second (200,1000)
  --only LIST      of ${DISTURBANCES.map(({ name }) => name).join(', ')}
  --seconds N      of one window (6)
  --windows N      of each kind and rate (4)
  --whole          waits until each work is done, and prints its minutes`;

const { values: options } = parseArgs({
  options: {
    calls: { type: 'string', default: '1m' },
    data: { type: 'string' },
    rates: { type: 'string', default: '200,1000' },
    only: { type: 'string' },
    seconds: { type: 'string', default: '6' },
    windows: { type: 'string', default: '4' },
    whole: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const CONNECTIONS = 32;
const SETTLE_SECONDS = 0.5;
/** Until a work has really begun. */
const LEAD_MS = 1_500;
const LONGEST_WORK_MS = 3_600_000;

const say = (text: string) => void process.stderr.write(`${text}\n`);
const print = (text: string) => void process.stdout.write(`${text}\n`);

function parseSize(text: string): number {
  const [, digits, unit] = /^(\d+)(k|m)$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`--calls takes a size such as 100k or 10m, not ${text}`);
  return Number(digits) * (unit === 'm' ? 1_000_000 : 1_000);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

interface Figures {
  readonly windows: Percentiles[];
}

function format({ windows }: Figures): string {
  const of = (read: (window: Percentiles) => number) => (median(windows.map(read)) / 1_000).toFixed(2).padStart(7);
  return `p50 ${of(({ p50 }) => p50)}  p99 ${of(({ p99 }) => p99)} ms  (${windows.length} windows)`;
}

async function measure(stage: Stage, bodyBytes: number, rate: number): Promise<Percentiles> {
  const load = await runLoad({
    port: stage.gateway.port,
    request: requestBytes({ variant: 'json', gatewayKey: stage.gateway.key }),
    connections: CONNECTIONS,
    bodyBytes,
    rate,
    settleSeconds: SETTLE_SECONDS,
    seconds: Number(options.seconds),
    isPinned: false,
  });
  if (load.errors + load.badStatus + load.badLength > 0) throw new Error(`answers were wrong: ${JSON.stringify(load)}`);
  if (load.latencyUs === null) throw new Error('no latency');
  return load.latencyUs;
}

/** Everything but the proxies sleeps for one window: what calls take when nothing takes the cores from them. */
async function measureAlone(stage: Stage, bodyBytes: number, rate: number): Promise<Percentiles> {
  const proxies = new Set(
    (await stage.gateway.processes()).filter(({ role }) => role === 'proxy').map(({ pid }) => pid),
  );
  const others = listDescendants(stage.gateway.process.pid ?? 0).filter((pid) => !proxies.has(pid));
  const signal = (name: NodeJS.Signals) => {
    for (const pid of others)
      try {
        process.kill(pid, name);
      } catch {
        // One of PostgreSQL's short-lived processes has ended.
      }
  };
  signal('SIGSTOP');
  try {
    return await measure(stage, bodyBytes, rate);
  } finally {
    signal('SIGCONT');
    await sleep(LEAD_MS);
  }
}

async function measureWork(
  stage: Stage,
  { name, run, isEndless, undo }: Disturbance,
  bodyBytes: number,
  rates: readonly number[],
): Promise<string> {
  const figures = new Map(rates.map((rate) => [rate, { windows: [] } as Figures]));
  const startedMs = performance.now();
  const controller = new AbortController();
  let endedMs: number | null = null;
  const work = run(stage, controller.signal)
    .catch((error: unknown) => {
      process.exitCode = 1;
      return `failed: ${error instanceof Error ? error.message : error}`;
    })
    .finally(() => {
      endedMs = performance.now();
    });
  await sleep(LEAD_MS);
  for (let round = 0; round < Number(options.windows); round += 1)
    for (const rate of rates) {
      if (endedMs !== null) break;
      const window = await measure(stage, bodyBytes, rate);
      // One that outlives the work would say less than it claims.
      if (endedMs === null) figures.get(rate)?.windows.push(window);
    }
  if (isEndless === true || !options.whole) controller.abort();
  const limit = setTimeout(() => controller.abort(), LONGEST_WORK_MS);
  const remark = await work;
  clearTimeout(limit);
  await undo?.(stage);
  const minutes = isEndless === true ? '' : `, ${(((endedMs ?? 0) - startedMs) / 60_000).toFixed(1)} min`;
  return [
    `${name} (${remark}${minutes})`,
    ...rates.map((rate) => `  ${rate}/s  ${format(figures.get(rate) ?? { windows: [] })}`),
  ].join('\n');
}

async function run(): Promise<void> {
  buildPrograms();
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-beside-'));
  const answers = await writeAnswers(directory);
  const mock = await startMock(Object.values(answers), { isPinned: false });
  try {
    const stage = await openStage({
      calls: parseSize(options.calls),
      dataDir: options.data ?? null,
      verify: false,
      say,
      env: { TOLLGATE_UPSTREAM_OPENAI: `http://127.0.0.1:${mock.port}` },
    });
    try {
      const { bodyBytes } = answers.json;
      const rates = options.rates.split(',').map(Number);
      const chosen = DISTURBANCES.filter(({ name }) => options.only?.split(',').includes(name) ?? true);
      await measure(stage, bodyBytes, 500);
      const alone = new Map(rates.map((rate) => [rate, { windows: [] } as Figures]));
      const calm = new Map(rates.map((rate) => [rate, { windows: [] } as Figures]));
      for (let round = 0; round < Number(options.windows); round += 1)
        for (const rate of rates) {
          alone.get(rate)?.windows.push(await measureAlone(stage, bodyBytes, rate));
          calm.get(rate)?.windows.push(await measure(stage, bodyBytes, rate));
        }
      for (const rate of rates) {
        print(`proxy alone, all else stopped, ${rate}/s  ${format(alone.get(rate) ?? { windows: [] })}`);
        print(`as it is, undisturbed, ${rate}/s          ${format(calm.get(rate) ?? { windows: [] })}`);
      }
      for (const disturbance of chosen) print(await measureWork(stage, disturbance, bodyBytes, rates));
    } finally {
      await stage.close();
    }
  } finally {
    await mock.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (options.help) print(USAGE);
else await run();
