/** Ends a PostgreSQL server. The caller knows that the pid is our server's. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isAlive, type ProcessIdentity } from '../process-identity.ts';
import type { Cluster, RunningServer } from './postgres-cluster.ts';
import { askPostgres } from './postgres-connection.ts';
import { readPostmaster } from './postmaster-file.ts';
import { readStandstill } from './standstill.ts';

const POLL_MS = 20;
const WATCH_MS = 1_000;
const STUCK_WATCH_MS = 10_000;
export const STOP_TIMEOUT_MS = 10_000;

async function waitForEnd(identity: ProcessIdentity, cluster: string, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    // An adopted server may linger as a zombie for a second; its pid file goes first.
    if (!isAlive(identity) || readPostmaster(cluster)?.pid !== identity.pid) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT the immediate one, which writes nothing. */
const STOP_SIGNALS = { fast: ['SIGINT', 'SIGQUIT', 'SIGKILL'], immediate: ['SIGQUIT', 'SIGKILL'] } as const;

export async function stopPostgres(
  identity: ProcessIdentity,
  cluster: string,
  log: Logger,
  how: keyof typeof STOP_SIGNALS = 'fast',
): Promise<void> {
  for (const signal of STOP_SIGNALS[how]) {
    if (!isAlive(identity)) return;
    try {
      process.kill(identity.pid, signal);
    } catch {
      return;
    }
    if (await waitForEnd(identity, cluster, STOP_TIMEOUT_MS)) return;
    log.warn({ pid: identity.pid, signal }, 'PostgreSQL does not stop');
  }
}

/** Ends a server that hangs in a shutdown of others, or in the recovery after a crash (PostgreSQL 18), and returns. */
export async function endWhenStuck(
  server: RunningServer,
  cluster: Cluster,
  log: Logger,
  limitMs: number,
): Promise<void> {
  let stoodAt: string | null = null;
  let sinceMs = 0;
  let isGone = false;
  void server.ended.then(() => {
    isGone = true;
  });
  while (!isGone) {
    await Promise.race([server.ended, sleep(Math.min(STUCK_WATCH_MS, limitMs), undefined, { ref: false })]);
    if (isGone) return;
    const standsAt = await askPostgres(server.connectionString).then(
      () => null,
      (error) => readStandstill(error, server.identity.pid),
    );
    if (standsAt === null || standsAt !== stoodAt) {
      stoodAt = standsAt;
      sinceMs = performance.now();
      continue;
    }
    if (performance.now() - sinceMs < limitMs) continue;
    log.error({ pid: server.identity.pid, limitMs, stoodAt }, 'PostgreSQL hangs; ending it');
    await stopPostgres(server.identity, cluster.files.cluster, log, 'immediate');
  }
}

export async function pollEnd(identity: ProcessIdentity, cluster: string): Promise<string> {
  while (isAlive(identity) && readPostmaster(cluster)?.pid === identity.pid) {
    await sleep(WATCH_MS, undefined, { ref: false });
  }
  return 'ended';
}
