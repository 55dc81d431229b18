/**
 * `npm run bench:proxy`: what a call and a chunk cost in the gateway beside nginx, in the same run. What is measured,
 * how, and what to distrust: ../README.md.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeAnswers } from './answers.ts';
import { startGateway } from './gateway.ts';
import { type BodyLengths, measureStreams, warmUp } from './measure.ts';
import { isNginxInstalled, NGINX, NGINX_MISSING, startNginx } from './nginx.ts';
import type { Peer } from './peer.ts';
import { buildPrograms, type Mock, startMock } from './programs.ts';
import { isWorse, type MemoryResult, type Results, reportText } from './report.ts';
import { type CpuResult, type LatencyResult, type Pair, runCpuRounds, runLatencyRounds, verdict } from './rounds.ts';
import { BUDGETS, VARIANTS } from './variants.ts';

const USAGE = `npm run bench:proxy -- [options]
  --quick            3 rounds instead of 10
  --rounds N         so many rounds
  --only NAME,NAME   of: ${VARIANTS.map((variant) => variant.name).join(', ')}, latency
  --streams N,N      memory with so many open streams as well, e.g. 1000,5000 (takes a fresh gateway each)
  --guards           what limits, hard budgets and brakes on every call cost: one gateway, asked with and without
  --agents           what a run token in the address and an agent's ids cost: one gateway, asked so and by headers
  --beside DIR       beside the gateway of another checkout (with its dependencies installed) instead of nginx
  --self             nginx against nginx: the ratio must be 1, else the machine is too noisy
  --json             the results as JSON on standard output
Ends with 1 when a ratio is worse than what the repository knows of it (known-ratios.ts).`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    streams: { type: 'string' },
    guards: { type: 'boolean', default: false },
    agents: { type: 'boolean', default: false },
    beside: { type: 'string' },
    self: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const isOfTwoWays = options.agents || options.guards;
const rounds = Number(options.rounds ?? (options.quick ? 3 : 10));
const chosen = options.only?.split(',') ?? null;
const streamCounts = options.streams?.split(',').map(Number) ?? [];
const isChosen = (name: string) => chosen === null || chosen.includes(name);
const say = (text: string) => process.stderr.write(`${text}\n`);

function startMeasured(directory: string, mock: Mock): Promise<Peer> {
  return options.self
    ? startNginx('nginx as the gateway', directory, mock.port)
    : startGateway(directory, mock.port, { isGuarded: options.guards, isAskedByAgent: options.agents });
}

function namePeer(): string {
  if (isOfTwoWays) return 'its plain calls';
  return options.beside === undefined ? NGINX : 'the other checkout';
}

function startPeer(directory: string, mock: Mock): Promise<Peer> {
  return options.beside === undefined
    ? startNginx(NGINX, directory, mock.port)
    : startGateway(directory, mock.port, { checkout: resolve(options.beside) });
}

/** One process in both places, so that only the way of asking differs: two processes of the same differ by a tenth. */
async function withTwoWays<T>(directory: string, mock: Mock, work: (pair: Pair) => Promise<T>): Promise<T> {
  const gateway = await startMeasured(directory, mock);
  try {
    const { gatewayKey, plainKey = gatewayKey } = gateway;
    // An agent's address names no provider, which costs the same whoever asks.
    const asked = { namesProvider: !options.agents };
    return await work({ peer: { ...gateway, name: namePeer(), gatewayKey: plainKey, asked }, gateway });
  } finally {
    await gateway.stop();
  }
}

async function withPair<T>(directory: string, mock: Mock, name: string, work: (pair: Pair) => Promise<T>): Promise<T> {
  if (isOfTwoWays) return withTwoWays(join(directory, name), mock, work);
  const peer = await startPeer(join(directory, `${name}-peer`), mock);
  try {
    const gateway = await startMeasured(join(directory, name), mock);
    try {
      return await work({ peer, gateway });
    } finally {
      await gateway.stop();
    }
  } finally {
    await peer.stop();
  }
}

async function measureSpeed(pair: Pair, mock: Mock, lengths: BodyLengths) {
  const cpu: CpuResult[] = [];
  for (const variant of VARIANTS.filter(({ name }) => isChosen(name))) {
    say(`${variant.name}: warm-up, then ${rounds} rounds`);
    await warmUp(pair.peer, variant, lengths);
    await warmUp(pair.gateway, variant, lengths);
    cpu.push(await runCpuRounds(pair, variant, lengths, rounds));
  }
  const json = VARIANTS.find((variant) => variant.name === 'json');
  let latency: LatencyResult | null = null;
  if (json !== undefined && isChosen('latency')) {
    say(`latency: ${rounds} rounds`);
    if (!isChosen('json')) await warmUp(pair.gateway, json, lengths);
    const port = { jsonPort: mock.port, ssePort: mock.port };
    const direct: Peer = { ...pair.peer, ...port, name: 'direct' };
    latency = await runLatencyRounds(pair, direct, json, lengths, rounds);
  }
  return { cpu, latency };
}

async function measureMemory(directory: string, mock: Mock, streams: number): Promise<MemoryResult | null> {
  const variant = VARIANTS.find(({ name }) => name === 'sse-untouched');
  if (variant === undefined) return null;
  say(`${streams} open streams`);
  return withPair(directory, mock, `streams-${streams}`, async (pair) => {
    await sleep(3000); // what a start leaves behind is not rest
    const peer = await measureStreams(pair.peer, variant, streams);
    const gateway = await measureStreams(pair.gateway, variant, streams);
    const rest = verdict(gateway.restMb, BUDGETS.restMb);
    return { peer, gateway, rest, perStream: verdict(gateway.kbPerStream, BUDGETS.streamKb) };
  });
}

function versions(): Record<string, string> {
  // nginx says its version on standard error.
  const said = spawnSync('nginx', ['-v'], { encoding: 'utf8' }).stderr ?? 'missing';
  return { node: process.version, nginx: said.trim().replace(/^.*\//, '') };
}

async function main(): Promise<void> {
  buildPrograms();
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  // The embedded database may run as another user, which must be able to pass through.
  chmodSync(directory, 0o711);
  const before = loadavg()[0] ?? 0;
  try {
    const answers = await writeAnswers(directory);
    const mock = await startMock(Object.values(answers));
    try {
      const lengths = {
        json: answers.json.bodyBytes,
        sse: answers.sse.bodyBytes,
        'sse-usage': answers['sse-usage'].bodyBytes,
        'sse-usage-gzip': answers['sse-usage-gzip'].bodyBytes,
      };
      const speed = await withPair(directory, mock, 'speed', (pair) => measureSpeed(pair, mock, lengths));
      const memory: MemoryResult[] = [];
      for (const streams of streamCounts) {
        const result = await measureMemory(directory, mock, streams);
        if (result !== null) memory.push(result);
      }
      const delay = speed.cpu.find(({ variant }) => variant === 'sse-untouched')?.chunkDelayMs ?? null;
      const results: Results = {
        peer: namePeer(),
        versions: versions(),
        rounds,
        loadAverage: [before, loadavg()[0] ?? 0],
        ...speed,
        chunkDelay: delay === null ? null : verdict(delay.gateway, BUDGETS.chunkDelayP50Ms),
        memory,
      };
      process.stdout.write(`${options.json ? JSON.stringify(results, null, 2) : reportText(results)}\n`);
      if (!options.self && results.peer === NGINX && isWorse(results.cpu)) process.exitCode = 1;
    } finally {
      await mock.stop();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (options.help) {
  process.stdout.write(`${USAGE}\n`);
} else if (process.platform !== 'linux') {
  say('This benchmark reads CPU times from /proc and pins processes to cores: it runs on Linux only.');
  process.exitCode = 2;
} else if (isOfTwoWays && (options.self || options.beside !== undefined)) {
  say('--agents and --guards compare one gateway with itself; leave out --beside and --self.');
  process.exitCode = 2;
} else if (namePeer() === NGINX && !isNginxInstalled()) {
  say(NGINX_MISSING);
  process.exitCode = 2;
} else {
  await main();
}
