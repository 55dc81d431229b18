/** Runs the embedded PostgreSQL while the gateway lives: starts or adopts it, restarts it when it dies, stops it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChildStatus } from '../../vocabulary/channel.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { createBackOff } from '../back-off.ts';
import { createCrashLoop } from '../crash-loop.ts';
import { findBinaries } from './postgres-binaries.ts';
import { type Cluster, formatConnectionString, type RunningServer, START_TIMEOUT_MS } from './postgres-cluster.ts';
import { describeConnectionError } from './postgres-connection.ts';
import { createSocketDir, placePostgresFiles, prepareCluster, removeSocketDir } from './postgres-files.ts';
import { choosePostgresUser } from './postgres-user.ts';
import { startPostgres } from './start-postgres.ts';
import { endWhenStuck, stopPostgres } from './stop-postgres.ts';

const STOP_TIMEOUT_MS = 10_000;
/** The last checkpoint, and one at the end of a recovery, may take a while on a slow disk. */
const STUCK_LIMIT_MS = 60_000;

export interface EmbeddedPostgres {
  readonly connectionString: () => string;
  readonly stop: () => Promise<void>;
  readonly abandon: () => Promise<void>;
  readonly status: () => ChildStatus;
}

/**
 * Keeps the server running until `stop`. With `mayBeAway` a failed start is tried again, and one that takes longer than
 * `startLimitMs` goes on, while calls are proxied.
 * `onMoved` gets the new connection string when a restart changed it (an adopted server may have its socket elsewhere).
 */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: Logger;
  readonly mayBeAway: boolean;
  /** False when another gateway owns the data directory; asked before each start. */
  readonly mayRun?: () => boolean;
  readonly onMoved: (connectionString: string) => void;
  /** Ends the first start, which then rejects and leaves no server behind. */
  readonly signal?: AbortSignal;
  /** For so long a shutdown that we did not ask for, or a recovery, may stand still; then the server is restarted. */
  readonly stuckLimitMs?: number;
  /** For so long a start may stand still; then it is given up. */
  readonly startLimitMs?: number;
}): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options;
  const user = choosePostgresUser(findBinaries(dataDir), dataDir);
  const files = placePostgresFiles(dataDir);
  await prepareCluster(files, dataDir, user);
  const cluster: Cluster = { files, user, socketDir: createSocketDir(dataDir, user) };
  const backOff = createBackOff();
  let server: RunningServer | null = null;
  let url = formatConnectionString(cluster);
  let state: ChildStatus['state'] = 'starting';
  let startedAtMs = Date.now();
  let launchedMs = performance.now();
  let restarts = 0;
  let lastExit: string | null = null;
  const crashLoop = createCrashLoop();
  let lastReason = '';
  const waking = new AbortController();

  const abortFirst = () => waking.abort();
  options.signal?.addEventListener('abort', abortFirst);
  if (options.signal?.aborted === true) abortFirst();

  async function launch(): Promise<void> {
    waking.signal.throwIfAborted();
    if (options.mayRun?.() === false) throw new OperatorError('the data directory belongs to another gateway');
    startedAtMs = Date.now();
    launchedMs = performance.now();
    server = await startPostgres(cluster, log, waking.signal, options.startLimitMs);
    void endWhenStuck(server, cluster, log, options.stuckLimitMs ?? STUCK_LIMIT_MS); // It never rejects.
    log.info({ child: server.identity.pid, adopted: server.wasAdopted, runsAs: user.how }, 'PostgreSQL ready');
    if (state !== 'stopping') state = 'ready';
    if (server.connectionString !== url) {
      url = server.connectionString;
      options.onMoved(url);
    }
  }

  const isStopping = () => state === 'stopping';

  function onFailedStart(error: unknown): void {
    const reason = describeConnectionError(error);
    const isNews = reason !== lastReason;
    lastReason = reason;
    if (crashLoop.ended(performance.now()) || isNews)
      log.error({ reason }, 'PostgreSQL could not be started; trying again');
    lastExit = reason;
  }

  async function keepRunning(first: Promise<void>): Promise<void> {
    await first.catch(onFailedStart);
    while (!isStopping()) {
      if (server !== null) {
        lastExit = await server.ended;
        if (isStopping()) return;
        if (crashLoop.ended(performance.now())) log.error({ exit: lastExit }, 'PostgreSQL ended; starting it again');
      }
      server = null;
      state = 'restarting';
      await sleep(backOff.next(performance.now() - launchedMs), undefined, { signal: waking.signal }).catch(() => {});
      if (isStopping()) return;
      restarts += 1;
      await launch().catch(onFailedStart);
    }
  }

  const first = launch();
  try {
    // A recovery may take long, and calls need no database.
    const isLate = () => sleep(options.startLimitMs ?? START_TIMEOUT_MS, undefined, { ref: false });
    await (options.mayBeAway ? Promise.race([first, isLate()]) : first);
  } catch (error) {
    if (!options.mayBeAway || waking.signal.aborted) {
      removeSocketDir(cluster.socketDir, dataDir);
      throw error;
    }
  } finally {
    options.signal?.removeEventListener('abort', abortFirst);
  }
  const running = keepRunning(first);

  async function stopAll(how: 'fast' | 'immediate'): Promise<void> {
    state = 'stopping';
    waking.abort();
    if (server !== null) await stopPostgres(server.identity, files.cluster, log, how);
    // A start under way breaks off; a server that has just come up is stopped too.
    await Promise.race([running, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    if (server !== null) await stopPostgres(server.identity, files.cluster, log, how);
    removeSocketDir(cluster.socketDir, dataDir);
    log.info('PostgreSQL stopped');
  }

  let stopping: Promise<void> | null = null;
  return {
    connectionString: () => url,
    stop: () => {
      stopping ??= stopAll('fast');
      return stopping;
    },
    abandon: () => {
      stopping ??= stopAll('immediate');
      return stopping;
    },
    status: () => ({
      role: 'postgres',
      pid: server?.identity.pid ?? null,
      state: state === 'restarting' && crashLoop.isLooping(performance.now()) ? 'crash_loop' : state,
      startedAtMs,
      restarts,
      recentExits: crashLoop.recentExits(performance.now()),
      lastExit,
      metrics: null,
    }),
  };
}
