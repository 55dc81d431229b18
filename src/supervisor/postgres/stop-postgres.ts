/**
 * The end of a PostgreSQL server: told to stop, stuck in its shutdown, or seen to be gone. Whoever calls it knows that
 * the pid is our server's: it is our own child, or it has answered our password.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isAlive, type ProcessIdentity } from '../process-identity.ts';
import type { Cluster, RunningServer } from './postgres-cluster.ts';
import { askPostgres, isShuttingDown } from './postgres-connection.ts';
import { readPostmaster } from './postmaster-file.ts';

const POLL_MS = 20;
const WATCH_MS = 1_000;
/** Each look at a server that seems well is a connection. */
const STUCK_WATCH_MS = 10_000;
export const STOP_TIMEOUT_MS = 10_000;

async function waitForEnd(identity: ProcessIdentity, cluster: string, timeoutMs: number): Promise<boolean> {
  const endMs = performance.now() + timeoutMs;
  while (performance.now() < endMs) {
    // A server that was adopted may linger a second as somebody's zombie: its pid file goes first.
    if (!isAlive(identity) || readPostmaster(cluster)?.pid !== identity.pid) return true;
    await sleep(POLL_MS);
  }
  return false;
}

/** SIGINT is PostgreSQL's fast shutdown; SIGQUIT its immediate one, which writes nothing (recovery at the next start). */
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
      // It ended in this instant.
      return;
    }
    if (await waitForEnd(identity, cluster, STOP_TIMEOUT_MS)) return;
    log.warn({ pid: identity.pid, signal }, 'PostgreSQL does not stop');
  }
}

/**
 * Ends a server that was told to stop by somebody else and does not come to its end: PostgreSQL 18 can hang there for ever
 * when that happens during its recovery. Returns when the server is gone.
 */
export async function endWhenStuck(
  server: RunningServer,
  cluster: Cluster,
  log: Logger,
  limitMs: number,
): Promise<void> {
  let sinceMs: number | null = null;
  let isGone = false;
  void server.ended.then(() => {
    isGone = true;
  });
  while (!isGone) {
    await Promise.race([server.ended, sleep(Math.min(STUCK_WATCH_MS, limitMs), undefined, { ref: false })]);
    if (isGone) return;
    const isStopping = await askPostgres(server.connectionString).then(() => false, isShuttingDown);
    sinceMs = isStopping ? (sinceMs ?? performance.now()) : null;
    if (sinceMs === null || performance.now() - sinceMs < limitMs) continue;
    log.error({ pid: server.identity.pid, limitMs }, 'PostgreSQL hangs in its shutdown; ending it');
    await stopPostgres(server.identity, cluster.files.cluster, log, 'immediate');
  }
}

/** How an adopted server ends, which is not our child. */
export async function pollEnd(identity: ProcessIdentity, cluster: string): Promise<string> {
  while (isAlive(identity) && readPostmaster(cluster)?.pid === identity.pid) {
    await sleep(WATCH_MS, undefined, { ref: false });
  }
  return 'ended';
}
