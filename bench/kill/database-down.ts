/**
 * A database that does not answer for a while, under load: suspended in the middle of what it did (connections stay
 * open and nothing comes), or an operator's server that is stopped and started again. Clients may not notice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '../../src/supervisor/postgres/embedded-postgres.ts';
import { createLog } from '../../src/vocabulary/log.ts';
import { listDescendants, readRssKb } from '../proxy/process-figures.ts';
import { type AwayDatabase, clientFaults, type KillResult, runKillPhase } from './kill-phase.ts';
import { openStage, type Settled, type Stage } from './stage.ts';

const SAMPLE_MS = 250;

export interface DownResult extends Settled {
  readonly how: 'suspended' | 'stopped';
  readonly downMs: number;
  readonly durationMs: number;
  /** The most before the database went away, and the most while it was away. */
  readonly rss: { readonly beforeMb: number; readonly mostMb: number };
}

export interface DownOptions {
  readonly seed: number;
  readonly clients: number;
  /** Load before it goes away, in which the proxy's memory reaches its level. */
  readonly warmUpMs: number;
  readonly downMs: number;
  /** What the proxy may gain while records wait; null where the warm-up is too short to tell. */
  readonly maxRssGrowthMb: number | null;
}

/** SIGSTOP to the embedded server and all its processes, then SIGCONT. */
export async function runSuspended(options: DownOptions): Promise<DownResult> {
  const stage = await openStage(options);
  let suspended: readonly number[] = [];
  const wakeAll = () => {
    for (const pid of suspended.toReversed()) signal(pid, 'SIGCONT');
    suspended = [];
  };
  try {
    return await measure(stage, 'suspended', options, {
      down: async () => {
        const postmaster = await pidOf(stage, 'postgres');
        // The postmaster first: it could start another one while its children are stopped.
        signal(postmaster, 'SIGSTOP');
        suspended = [postmaster, ...listDescendants(postmaster)];
        for (const pid of suspended) signal(pid, 'SIGSTOP');
      },
      up: () => Promise.resolve(wakeAll()),
    });
  } finally {
    wakeAll();
    await stage.close();
  }
}

/** A server of the operator's (`DATABASE_URL`) that is shut down and comes back at the same address. */
export function runStopped(options: DownOptions): Promise<DownResult> {
  return withServer(options, (stage, database) => measure(stage, 'stopped', options, database));
}

/** Kills of the proxy, all of them while such a server is away. */
export function runKillsWhileStopped(
  options: Pick<DownOptions, 'seed' | 'clients'>,
  kills: number,
  random: () => number,
): Promise<KillResult> {
  return withServer(options, (stage, database) => runKillPhase(stage, 'proxy', kills, random, database));
}

async function withServer<T>(
  options: Pick<DownOptions, 'seed' | 'clients'>,
  run: (stage: Stage, database: AwayDatabase) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-server-'));
  const log = createLog({ level: 'error', role: 'server' });
  const start = () => startEmbeddedPostgres({ dataDir, log, mayBeAway: false, onMoved: () => {} });
  let server = await start();
  try {
    const databaseUrl = server.connectionString();
    const { seed, clients } = options;
    const stage = await openStage({
      seed,
      clients,
      env: { DATABASE_URL: databaseUrl },
      databaseUrl: () => databaseUrl,
    });
    try {
      return await run(stage, {
        down: () => server.stop(),
        up: async () => {
          server = await start();
        },
      });
    } finally {
      await stage.close();
    }
  } finally {
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measure(
  stage: Stage,
  how: DownResult['how'],
  { warmUpMs, downMs, maxRssGrowthMb }: DownOptions,
  database: AwayDatabase,
): Promise<DownResult> {
  const sinceMs = Date.now();
  const startedMs = performance.now();
  const proxy = await pidOf(stage, 'proxy');
  const load = stage.startLoad();
  const beforeKb = await watchRss(proxy, warmUpMs);
  await database.down();
  const mostKb = await watchRss(proxy, downMs);
  await database.up();
  const settled = await stage.settle(load, sinceMs);
  const rss = { beforeMb: Math.round(beforeKb / 1024), mostMb: Math.round(mostKb / 1024) };
  const faults = [...settled.faults, ...clientFaults(settled)];
  if (maxRssGrowthMb !== null && rss.mostMb - rss.beforeMb > maxRssGrowthMb) {
    faults.push(`the proxy's memory grew from ${rss.beforeMb} MB to ${rss.mostMb} MB`);
  }
  return { ...settled, how, downMs, rss, faults, durationMs: Math.round(performance.now() - startedMs) };
}

async function watchRss(pid: number, forMs: number): Promise<number> {
  const endMs = performance.now() + forMs;
  let mostKb = readRssKb([pid]);
  while (performance.now() < endMs) {
    await sleep(SAMPLE_MS);
    mostKb = Math.max(mostKb, readRssKb([pid]));
  }
  return mostKb;
}

async function pidOf(stage: Stage, role: string): Promise<number> {
  const processes = await stage.gateway().processes();
  const pid = processes.find((one) => one.role === role)?.pid;
  if (pid === undefined || pid === null) throw new Error(`no process ${role}: ${JSON.stringify(processes)}`);
  return pid;
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // A process of the server's that has ended by itself.
  }
}
