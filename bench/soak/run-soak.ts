/**
 * A whole gateway on a disk of its own, under load, with one fault after the other for some minutes; then silence, and
 * the count. Everything it starts and mounts is gone afterwards.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { listProcesses } from '../../test/gateway/run-gateway.ts';
import { asRecord, makeDataDir, waitUntil } from '../../test/gateway/start-gateway.ts';
import { createSeededRandom } from '../../test/proxy/seeded-random.ts';
import { countDatabase, embeddedUrl } from '../kill/gateway-database.ts';
import { createRawClient, type RawClient } from '../kill/raw-client.ts';
import { openStage, type Stage } from '../kill/stage.ts';
import { countSoak, type SoakCount } from './count-soak.ts';
import { type Disk, mountDisk } from './disk.ts';
import type { Fault } from './draw-faults.ts';
import { countOpenFiles, listRoles, type RoleProcess } from './gateway-processes.ts';
import { createHttp2Client } from './http2-client.ts';
import { injectFaults } from './inject-faults.ts';
import { planSoakCall } from './plan-soak-call.ts';
import { createSessionServer } from './serve-session.ts';
import { makeSession } from './session-client.ts';
import { type ProcessFigures, watchProcesses } from './watch-processes.ts';

const WORKERS = 2;
const MIN_THINK_MS = 50;
const THINK_SPREAD_MS = 400;
/** Every second client has a new connection for each call, and every eighth speaks HTTP/2. */
const HTTP2_EVERY = 8;
const WARM_UP_MS = 2_000;
/** The share of the whole that one long fault may last, and the most. */
const LONG_SHARE = 1 / 12;
const MIN_LONG_LIMIT_MS = 8_000;
const MAX_LONG_MS = 60_000;
const DISK_MB = 1_536;
const DISK_MB_A_MINUTE = 64;
/** For everything to come back after the last fault: back-offs are up to 30 s. */
const BACK_LIMIT_MS = 120_000;
const ACCOUNTS_LIMIT_MS = 20_000;
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
/** Exit code. */
const INTERRUPTED = 130;
/** For the clock to be read again. */
const CLOCK_SETTLE_MS = 500;

export interface SoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly clients: number;
  readonly say: (text: string) => void;
}

/** The gateway's own account of its calls, in `GET /api/v1/status`. */
export interface Accounts {
  readonly accepted: number;
  readonly stored: number;
  readonly spooled: number;
  readonly inFlight: number;
  readonly setAside: number;
  readonly lost: number;
  /** What it cannot know. */
  readonly unaccounted: number;
}

export interface OpenFiles {
  readonly files: number;
  readonly sockets: number;
}

export interface SoakResult {
  readonly seed: number;
  readonly minutes: number;
  readonly count: SoakCount;
  readonly faults: ReadonlyMap<Fault, number>;
  readonly killsOnFullDisk: number;
  /** Faults that this user may not make. */
  readonly leftOut: readonly string[];
  readonly rollupDifferences: number;
  readonly openCalls: number;
  readonly drainMs: number;
  readonly figures: ProcessFigures;
  readonly cpuShare: number;
  /** What the largest proxy had before the first call and after the last. */
  readonly filesBefore: OpenFiles;
  readonly filesAfter: OpenFiles;
  readonly providerSockets: { readonly open: number; readonly busy: number };
  /** A pool never keeps more idle connections than it had calls at the same time. */
  readonly mostIdleSockets: number;
  readonly processesLeft: number;
  /** Null: it could not be had. */
  readonly accounts: Accounts | null;
  /** What the gateways printed. */
  readonly gatewayLog: string;
}

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { minutes } = options;
  const disk = mountDisk(DISK_MB + Math.round(minutes * DISK_MB_A_MINUTE));
  const clockDir = mkdtempSync(join(tmpdir(), 'tollgate-soak-clock-'));
  const removeAll = () => {
    disk?.remove();
    rmSync(clockDir, { recursive: true, force: true });
  };
  // The gateway is told by the terminal as well, or ends with us; its disk goes when it has.
  const onSignal = () => {
    removeAll();
    process.exit(INTERRUPTED);
  };
  for (const name of SIGNALS) process.once(name, onSignal);
  try {
    return await soakOn(disk, join(clockDir, 'offset'), options);
  } finally {
    for (const name of SIGNALS) process.off(name, onSignal);
    removeAll();
  }
}

async function soakOn(disk: Disk | null, clockFile: string, options: SoakOptions): Promise<SoakResult> {
  const { minutes, seed, clients } = options;
  // By the clock of the calls, so that a wrong one can be found among the faults.
  const say = (text: string) => options.say(`${(performance.now() / 1_000).toFixed(3).padStart(8)} s  ${text}`);
  const shiftClock = (offsetMs: number) => writeFileSync(clockFile, String(offsetMs));
  shiftClock(0);
  const planOf = (n: number) => planSoakCall(n, seed);
  const random = createSeededRandom(seed);
  const dataDir = disk?.dataDir ?? makeDataDir();
  const preload = pathToFileURL(join(import.meta.dirname, 'shift-clock.mjs')).href;
  const { serve, misread } = createSessionServer();
  const stage = await openStage({
    seed,
    clients,
    planOf,
    dataDir,
    createClient,
    serveSession: serve,
    thinkMs: () => MIN_THINK_MS + random() * THINK_SPREAD_MS,
    env: { TOLLGATE_WORKERS: String(WORKERS), NODE_OPTIONS: `--import=${preload}`, SOAK_CLOCK_FILE: clockFile },
  });
  const listAll = () => listRoles(stage.gateway().process.pid ?? -1, dataDir);
  let isStopped = false;
  try {
    say(`seed ${seed}, ${clients} clients, ${WORKERS} proxies, data in ${dataDir}`);
    const filesBefore = mostFiles(listAll());
    const watch = watchProcesses(listAll);
    const loadStartedMs = performance.now();
    const load = stage.startLoad();
    await sleep(WARM_UP_MS);
    const faults = injectFaults({
      stage,
      workers: WORKERS,
      disk,
      shiftClock,
      seed,
      say,
      maxLongMs: Math.min(MAX_LONG_MS, Math.max(MIN_LONG_LIMIT_MS, minutes * 60_000 * LONG_SHARE)),
      endMs: loadStartedMs + minutes * 60_000,
    });
    try {
      await faults.ended;
    } catch (error) {
      say(`the faults ended early: ${String(error)}`);
      throw error;
    }
    shiftClock(0);
    say('no more faults');
    const { calls } = await load.stop();
    const loadMs = performance.now() - loadStartedMs;
    say(`${calls.length} calls; waiting for everything to be stored`);
    await waitUntilBack(stage, listAll);
    await sleep(CLOCK_SETTLE_MS);
    const drainStartedMs = performance.now();
    await stage.drain();
    const drainMs = Math.round(performance.now() - drainStartedMs);
    const figures = watch.stop();
    say('stored; counting');
    const database = await countDatabase(embeddedUrl(dataDir), 0);
    const count = countSoak({
      calls,
      database,
      planOf,
      misread,
      provider: stage.provider,
      disturbances: faults.disturbances,
    });
    const providerSockets = stage.provider.connections();
    const accounts = await readSettledAccounts(stage);
    const filesAfter = mostFiles(listAll());
    const gatewayLog = stage.output();
    isStopped = true;
    await stage.close();
    return {
      mostIdleSockets: clients * WORKERS,
      seed,
      minutes,
      count,
      faults: faults.counts,
      killsOnFullDisk: faults.killsOnFullDisk(),
      drainMs,
      figures,
      filesBefore,
      filesAfter,
      providerSockets,
      accounts,
      leftOut: disk === null ? ['disk full (this user may not mount a tmpfs)'] : [],
      rollupDifferences: database.differences.length,
      openCalls: database.openCalls,
      gatewayLog,
      cpuShare: figures.cpuSeconds / (loadMs / 1_000),
      processesLeft: listProcesses(dataDir).length,
    };
  } finally {
    if (!isStopped) await stage.close();
  }
}

/** Every one opens a websocket where its call's plan says so. */
function createClient(index: number, port: number, gatewayKey: string): RawClient {
  const http = createHttpClient(index, port, gatewayKey);
  return {
    call: (plan) => (plan.session === undefined ? http.call(plan) : makeSession(plan, plan.session, port, gatewayKey)),
    close: http.close,
  };
}

function createHttpClient(index: number, port: number, gatewayKey: string): RawClient {
  if (index % HTTP2_EVERY === HTTP2_EVERY - 1) return createHttp2Client(port, gatewayKey);
  return createRawClient(port, gatewayKey, { isFresh: index % 2 === 0 });
}

/** All roles run and answer. */
async function waitUntilBack(stage: Stage, listAll: () => readonly RoleProcess[]): Promise<void> {
  await waitUntil(
    'every process is back',
    async () => {
      const ready = await stage
        .gateway()
        .processes()
        .catch(() => []);
      const isReady = ready.length > WORKERS && ready.every(({ state }) => state === 'ready');
      return isReady && listAll().some(({ role }) => role === 'postgres') ? true : undefined;
    },
    BACK_LIMIT_MS,
  );
}

/** Its figures of the proxies are up to a second old: a sum that is not right yet is asked for again. */
async function readSettledAccounts(stage: Stage): Promise<Accounts | null> {
  const read = async () => readAccounts(await stage.gateway().api('/api/v1/status'));
  const settled = async () => {
    const accounts = await read();
    return accounts === null || isBalanced(accounts) ? { accounts } : undefined;
  };
  return waitUntil('the accounts are balanced', settled, ACCOUNTS_LIMIT_MS).then(({ accounts }) => accounts, read);
}

function readAccounts(status: unknown): Accounts | null {
  const { accounts: told } = asRecord(status);
  if (told === undefined || told === null) return null;
  const accounts = asRecord(told);
  return {
    accepted: Number(accounts['accepted']),
    stored: Number(accounts['stored']),
    spooled: Number(accounts['spooled']),
    inFlight: Number(accounts['in_flight']),
    setAside: Number(accounts['set_aside']),
    lost: Number(accounts['lost']),
    unaccounted: Number(accounts['unaccounted_total']),
  };
}

/** The invariant of the product. */
export function isBalanced({ accepted, stored, spooled, inFlight, setAside, lost }: Accounts): boolean {
  return accepted === stored + spooled + inFlight + setAside + lost;
}

function mostFiles(processes: readonly RoleProcess[]): OpenFiles {
  const counts = processes.filter(({ role }) => role === 'proxy').map(({ pid }) => countOpenFiles(pid));
  return {
    files: Math.max(0, ...counts.map(({ files }) => files)),
    sockets: Math.max(0, ...counts.map(({ sockets }) => sockets)),
  };
}
