/**
 * `npm run bench:peers`: Tollgate beside nginx and other gateways, in one run, on the same provider and load. What is
 * measured, how, and what to distrust: ../README.md.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { writeAnswers } from '../proxy/answers.ts';
import { buildPrograms, LOAD_CORE, type Mock, place, startMock } from '../proxy/programs.ts';
import { median } from '../proxy/statistics.ts';
import { VARIANTS, type Variant } from '../proxy/variants.ts';
import { compareBytes, type SameBytes } from './compare-bytes.ts';
import {
  type AtARate,
  type Chunks,
  drain,
  measureAtRate,
  measureChunks,
  measureOpenStreams,
  measureRestMsPerSecond,
  measureSaturated,
  type OpenStreams,
  readMemoryMb,
  type Saturated,
  warmUp,
} from './measures.ts';
import type { PeerGateway, PeerKind } from './peer-gateway.ts';
import { type PeerResult, reportText } from './report.ts';
import { AGENTGATEWAY, AGENTGATEWAY_ROWS } from './start-agentgateway.ts';
import { BIFROST, BIFROST_ROWS } from './start-bifrost.ts';
import { LITELLM } from './start-litellm.ts';
import { PORTKEY } from './start-portkey.ts';
import { NGINX, TOLLGATE } from './start-tollgate.ts';

const KINDS: readonly PeerKind[] = [
  NGINX,
  TOLLGATE,
  AGENTGATEWAY,
  AGENTGATEWAY_ROWS,
  BIFROST,
  BIFROST_ROWS,
  PORTKEY,
  LITELLM,
];

const USAGE = `npm run bench:peers -- [options]
  --only NAME;NAME   of: ${KINDS.map(({ name }) => name).join('; ')}
  --rounds N         so many rounds of each measure instead of 5 (2 of streams, 2 of each rate)
  --json             the results as JSON on standard output
Other gateways are found on the path (agentgateway, bifrost-http, litellm) or by TOLLGATE_BENCH_AGENTGATEWAY,
TOLLGATE_BENCH_BIFROST, TOLLGATE_BENCH_LITELLM, TOLLGATE_BENCH_PORTKEY (its build/start-server.js) and
TOLLGATE_BENCH_PORTKEY_NODE (its Node); those that are missing are said and left out.`;

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const ROUNDS = Number(options.rounds ?? 5);
const FEW_ROUNDS = Math.min(ROUNDS, 2);
const WARM_UP_SECONDS = 5;
const STREAM_WARM_UP_SECONDS = 4;
const RATE_SECONDS = { low: 4, high: 6 } as const;
const LOW_RATE = 200;
const HIGH_RATE = 1_000;
/** A rate is asked only of what can do more than it. */
const HEADROOM = 1.15;
const OPEN_STREAMS = 1_000;
const SETTLE_MS = 3_000;

const say = (text: string) => process.stderr.write(`${text}\n`);

function variantOf(name: Variant['name']): Variant {
  const found = VARIANTS.find((variant) => variant.name === name);
  if (found === undefined) throw new Error(`no variant ${name}`);
  return found;
}

const JSON_CALL = variantOf('json');
const STREAM = variantOf('sse-untouched');

/** One gateway in the run; what it failed at is not asked of it again. */
class Measured {
  readonly peer: PeerGateway;
  readonly bytes: SameBytes | null;
  readonly saturated: Saturated[] = [];
  readonly chunks: Chunks[] = [];
  readonly at200: AtARate[] = [];
  readonly at1000: AtARate[] = [];
  streams: OpenStreams | null = null;
  restMb = 0;
  fullMb = 0;
  restMsPerSecond = 0;
  readonly failures: string[];
  readonly #given = new Set<string>();

  constructor(peer: PeerGateway, bytes: SameBytes | null, failures: string[]) {
    this.peer = peer;
    this.bytes = bytes;
    this.failures = failures;
  }

  get perSecond(): number {
    return this.saturated.length === 0 ? 0 : median(this.saturated.map(({ perSecond }) => perSecond));
  }

  async attempt(what: string, work: () => Promise<void>): Promise<void> {
    if (this.#given.has(what)) return;
    try {
      await work();
    } catch (error) {
      this.giveUp(what, error instanceof Error ? error.message : String(error));
    }
  }

  giveUp(what: string, reason: string): void {
    if (this.#given.has(what)) return;
    this.#given.add(what);
    this.failures.push(`${what}: ${reason.split('\n')[0]}`);
  }

  toResult(): PeerResult {
    const { peer, saturated, chunks, at200, at1000, streams, bytes, restMb, fullMb, restMsPerSecond, failures } = this;
    const { name, version, keeps } = peer;
    return {
      name,
      version,
      keeps,
      saturated,
      chunks,
      at200,
      at1000,
      streams,
      bytes,
      restMb,
      fullMb,
      restMsPerSecond,
      failures,
    };
  }
}

/** In turn, and backwards every other round: a drift of the machine meets all. */
async function inRounds(
  all: readonly Measured[],
  rounds: number,
  work: (one: Measured) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1)
    for (const one of round % 2 === 0 ? all : all.toReversed()) await work(one);
}

async function startAll(kinds: readonly PeerKind[], directory: string, mock: Mock): Promise<Measured[]> {
  const all: Measured[] = [];
  for (const [index, kind] of kinds.entries()) {
    say(`${kind.name}: bytes, then start`);
    const failures: string[] = [];
    const [forBytes, forCalls] = [join(directory, `bytes-${index}`), join(directory, `calls-${index}`)];
    mkdirSync(forBytes);
    mkdirSync(forCalls);
    const bytes = await compareBytes(kind, forBytes).catch((error: Error) => {
      failures.push(`bytes: ${error.message.split('\n')[0]}`);
      return null;
    });
    all.push(new Measured(await kind.start(forCalls, mock.port), bytes, failures));
  }
  return all;
}

async function measureAll(all: readonly Measured[], mock: Mock): Promise<void> {
  await sleep(SETTLE_MS); // What a start leaves behind is not rest.
  for (const one of all) {
    one.restMb = readMemoryMb(one.peer);
    one.restMsPerSecond = await measureRestMsPerSecond(one.peer);
  }

  for (const { peer } of all) peer.pin();
  say('JSON, saturated');
  for (const one of all) await one.attempt('JSON', () => warmUp(one.peer, JSON_CALL, WARM_UP_SECONDS));
  await inRounds(all, ROUNDS, (one) =>
    one.attempt('JSON', async () => void one.saturated.push(await measureSaturated(one.peer, JSON_CALL))),
  );
  say('chunks');
  await drainAll(all);
  for (const one of all) await one.attempt('streams', () => warmUp(one.peer, STREAM, STREAM_WARM_UP_SECONDS));
  await inRounds(all, FEW_ROUNDS, (one) =>
    one.attempt('streams', async () => void one.chunks.push(await measureChunks(one.peer, STREAM))),
  );

  say('at a rate, nothing pinned');
  place([mock.pid], 'any');
  for (const { peer } of all) place(peer.allPids(), 'any');
  await drainAll(all);
  await inRounds(all, FEW_ROUNDS, (one) => askAtRate(one, LOW_RATE, RATE_SECONDS.low, one.at200));
  await inRounds(all, FEW_ROUNDS, (one) => askAtRate(one, HIGH_RATE, RATE_SECONDS.high, one.at1000));

  say(`${OPEN_STREAMS} open streams`);
  for (const one of all) {
    await one.attempt('streams', async () => {
      one.streams = await measureOpenStreams(one.peer, STREAM, OPEN_STREAMS);
    });
    one.fullMb = readMemoryMb(one.peer);
  }
}

/** What one still has to do would be in the others' figures too. */
async function drainAll(all: readonly Measured[]): Promise<void> {
  await Promise.all(all.map(({ peer, restMsPerSecond }) => drain(peer, restMsPerSecond)));
}

async function askAtRate(one: Measured, rate: number, seconds: number, into: AtARate[]): Promise<void> {
  const what = `${rate} calls a second`;
  if (one.perSecond < rate * HEADROOM) {
    one.giveUp(what, `saturated at ${one.perSecond.toFixed(0)}`);
    return;
  }
  const { peer, restMsPerSecond } = one;
  await one.attempt(
    what,
    async () => void into.push(await measureAtRate(peer, JSON_CALL, { rate, seconds, restMsPerSecond })),
  );
}

async function main(): Promise<void> {
  const wanted = options.only?.split(';').map((name) => name.trim());
  const unknown = wanted?.filter((name) => !KINDS.some((kind) => kind.name === name)) ?? [];
  if (unknown.length > 0) {
    say(
      `--only takes these, with ; between: ${KINDS.map(({ name }) => name).join('; ')}. Unknown: ${unknown.join('; ')}`,
    );
    process.exitCode = 2;
    return;
  }
  const asked = KINDS.filter(({ name }) => wanted === undefined || wanted.includes(name));
  const missing = asked.flatMap((kind) => (kind.missing === null ? [] : [`${kind.name}: ${kind.missing}`]));
  for (const one of missing) say(`left out: ${one}`);
  buildPrograms();
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-peers-'));
  // The embedded database may run as another user, which must be able to pass through.
  chmodSync(directory, 0o711);
  const before = loadavg()[0] ?? 0;
  const mock = await startMock(Object.values(await writeAnswers(directory)));
  let all: readonly Measured[] = [];
  try {
    place([mock.pid], LOAD_CORE);
    all = await startAll(
      asked.filter((kind) => kind.missing === null),
      directory,
      mock,
    );
    await measureAll(all, mock);
    const results = all.map((one) => one.toResult());
    const around = {
      date: new Date().toISOString().slice(0, 10),
      command: ['npm run bench:peers', ...process.argv.slice(2)].join(' '),
      processor: cpus()[0]?.model.trim() ?? '',
      cores: availableParallelism(),
      kernel: release(),
      node: process.version,
      loadAverage: [before, loadavg()[0] ?? 0] as const,
      missing,
    };
    process.stdout.write(
      `${options.json ? JSON.stringify({ around, results }, null, 2) : reportText(results, around)}\n`,
    );
    // The others' failures are theirs.
    if (results.some(({ name, failures }) => name === 'Tollgate' && failures.length > 0)) process.exitCode = 1;
  } finally {
    for (const { peer } of all) await peer.stop();
    await mock.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

if (options.help) {
  process.stdout.write(`${USAGE}\n`);
} else if (process.platform !== 'linux') {
  say('This benchmark reads CPU times from /proc and pins processes to cores: it runs on Linux only.');
  process.exitCode = 2;
} else {
  await main();
}
