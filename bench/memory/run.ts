/**
 * `npm run bench:memory`: what the proxy process needs at most while bodies of hundreds of megabytes, bombs and endless
 * events pass, and whether every byte arrived. What is measured, how, and what to distrust: ../README.md.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startGateway } from '../proxy/gateway.ts';
import { readPeakRssKb, readRssKb, resetPeakRss } from '../proxy/process-figures.ts';
import { MIB } from './bodies.ts';
import { runCall } from './call.ts';
import { digestOf, type Provider, startProvider } from './provider.ts';
import { DEFAULT_BYTES, listScenarios, type Scenario } from './scenarios.ts';

const USAGE = `npm run bench:memory -- [options]
  --mib N       bodies of so many MiB instead of 256
  --only TEXT   scenarios whose name holds it`;

/** Above what the process has at rest. */
const BUDGET_MIB = 80;
/** Between scenarios, for the records to be written. */
const SETTLE_MS = 300;
const WARM_UP_CALLS = 200;

const { values: options } = parseArgs({
  options: { mib: { type: 'string' }, only: { type: 'string' }, help: { type: 'boolean', default: false } },
});

interface Row {
  readonly name: string;
  readonly seconds: number;
  readonly restMib: number;
  readonly peakMib: number;
  readonly problems: readonly string[];
}

const toMib = (kb: number): number => kb / 1024;

async function measure(scenario: Scenario, provider: Provider, gateway: Gateway, restMib: number): Promise<Row> {
  provider.setAnswer(scenario.answer);
  resetPeakRss(gateway.pid);
  const startedMs = performance.now();
  const result = await runCall(gateway.port, gateway.key, scenario);
  const seconds = (performance.now() - startedMs) / 1000;
  await sleep(SETTLE_MS);
  const peakMib = toMib(readPeakRssKb(gateway.pid));

  const problems: string[] = [];
  if (result.status !== scenario.status) problems.push(`status ${result.status}`);
  if (scenario.status === 200) {
    const sent = digestOf(scenario.request?.pieces ?? (() => []));
    const answered = digestOf(scenario.answer.pieces);
    if (provider.seen()?.digest !== sent.digest) problems.push('the provider got other bytes');
    if (result.answer.digest !== answered.digest) problems.push('the client got other bytes');
  }
  if (peakMib - restMib > BUDGET_MIB) problems.push(`over ${BUDGET_MIB} MiB`);
  return { name: scenario.name, seconds, restMib, peakMib, problems };
}

interface Gateway {
  readonly port: number;
  readonly key: string;
  readonly pid: number;
}

/** A few small calls, so that what every call needs is loaded; then rest. */
async function warmUp(provider: Provider, gateway: Gateway): Promise<void> {
  const [scenario] = listScenarios(1024);
  if (scenario === undefined) return;
  provider.setAnswer(scenario.answer);
  for (let done = 0; done < WARM_UP_CALLS; done += 1) await runCall(gateway.port, gateway.key, scenario);
  await sleep(2_000);
}

function printRow({ name, seconds, restMib, peakMib, problems }: Row): void {
  const figures = [
    seconds.toFixed(1).padStart(6),
    peakMib.toFixed(0).padStart(6),
    `+${(peakMib - restMib).toFixed(0)}`.padStart(6),
  ];
  console.log(`${name.padEnd(42)}${figures.join('')}  ${problems.length === 0 ? 'equal' : problems.join(', ')}`);
}

async function main(): Promise<void> {
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-memory-'));
  chmodSync(directory, 0o755);
  const provider = await startProvider();
  try {
    const peer = await startGateway(join(directory, 'gateway'), provider.port, {
      providers: ['OPENAI', 'GEMINI', 'BEDROCK'],
    });
    try {
      const gateway = { port: peer.jsonPort, key: peer.gatewayKey, pid: peer.proxyPids[0] ?? 0 };
      const startMib = toMib(readRssKb([gateway.pid]));
      await warmUp(provider, gateway);
      const restMib = Math.min(startMib, toMib(readRssKb([gateway.pid])));
      const bytes = options.mib === undefined ? DEFAULT_BYTES : Number(options.mib) * MIB;
      console.log(
        `at start ${startMib.toFixed(0)} MiB, at rest ${restMib.toFixed(0)} MiB; bodies of ${bytes / MIB} MiB; budget +${BUDGET_MIB} MiB\n`,
      );
      console.log(`${''.padEnd(42)}     s   peak  above  bytes`);
      for (const scenario of listScenarios(bytes).filter(({ name }) => name.includes(options.only ?? ''))) {
        const row = await measure(scenario, provider, gateway, restMib);
        printRow(row);
        if (row.problems.length > 0) process.exitCode = 1;
      }
    } finally {
      await peer.stop();
    }
  } finally {
    await provider.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
