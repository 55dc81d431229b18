/**
 * Runs the embedded PostgreSQL for as long as the gateway lives: finds a way to run it here, starts or adopts it,
 * starts it again when it dies, stops it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ChildStatus } from '../../channel.ts';
import { OperatorError } from '../../errors.ts';
import { createBackOff } from '../back-off.ts';
import { createCrashLoop } from '../crash-loop.ts';
import { findBinaries } from './postgres-binaries.ts';
import { type Cluster, formatConnectionString, type RunningServer } from './postgres-cluster.ts';
import { describeConnectionError } from './postgres-connection.ts';
import { createSocketDir, placePostgresFiles, prepareCluster, removeSocketDir } from './postgres-files.ts';
import { choosePostgresUser } from './postgres-user.ts';
import { startPostgres } from './start-postgres.ts';
import { endWhenStuck, stopPostgres } from './stop-postgres.ts';

/** For a restart that is under way when the gateway stops. */
const STOP_TIMEOUT_MS = 10_000;
/** Its last checkpoint may take a while on a slow disk. */
const SHUTDOWN_LIMIT_MS = 60_000;

export interface EmbeddedPostgres {
  readonly connectionString: () => string;
  /** Fast shutdown; resolves when the server is gone. Idempotent. */
  readonly stop: () => Promise<void>;
  /** Ends the server without a last write. */
  readonly abandon: () => Promise<void>;
  readonly status: () => ChildStatus;
}

/**
 * Starts the server and keeps it running until `stop`. With `mayBeAway` a server that does not start is no failure: it
 * is tried again, while calls are proxied without it. `onMoved` is called with the new connection string when a restart
 * changed it (an adopted server may have had its socket elsewhere).
 */
export async function startEmbeddedPostgres(options: {
  readonly dataDir: string;
  readonly log: Logger;
  readonly mayBeAway: boolean;
  /** Asked before each start; false when the data directory has got another owner. */
  readonly mayRun?: () => boolean;
  readonly onMoved: (connectionString: string) => void;
  /** Ends the first start, which then leaves no server behind and rejects. Later ones end by `stop`. */
  readonly signal?: AbortSignal;
  /** For a shutdown that we have not asked for; then the server is ended and started again. */
  readonly shutdownLimitMs?: number;
}): Promise<EmbeddedPostgres> {
  const { dataDir, log } = options;
  const user = choosePostgresUser(findBinaries(dataDir), dataDir);
  const files = placePostgresFiles(dataDir);
  await prepareCluster(files, dataDir, user);
  const cluster: Cluster = { files, user, socketDir: createSocketDir(dataDir, user) };
  const backOff = createBackOff();
  /** Null while there is none. */
  let server: RunningServer | null = null;
  let url = formatConnectionString(cluster);
  let state: ChildStatus['state'] = 'starting';
  let startedAtMs = Date.now();
  /** The same by the monotonic clock: the wall clock may step. */
  let launchedMs = performance.now();
  let restarts = 0;
  let lastExit: string | null = null;
  const crashLoop = createCrashLoop();
  let lastReason = '';
  /** Ends a wait for the next start when nothing is to be started any more. */
  const waking = new AbortController();

  const abortFirst = () => waking.abort();
  options.signal?.addEventListener('abort', abortFirst);
  if (options.signal?.aborted === true) abortFirst();

  async function launch(): Promise<void> {
    waking.signal.throwIfAborted();
    if (options.mayRun?.() === false) throw new OperatorError('the data directory belongs to another gateway');
    startedAtMs = Date.now();
    launchedMs = performance.now();
    server = await startPostgres(cluster, log, waking.signal);
    void endWhenStuck(server, cluster, log, options.shutdownLimitMs ?? SHUTDOWN_LIMIT_MS); // It never rejects.
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
    // Each reason once, and then as often as any crash loop.
    if (crashLoop.ended(performance.now()) || isNews)
      log.error({ reason }, 'PostgreSQL could not be started; trying again');
    lastExit = reason;
  }

  async function keepRunning(): Promise<void> {
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

  try {
    await launch();
  } catch (error) {
    if (!options.mayBeAway || waking.signal.aborted) {
      removeSocketDir(cluster.socketDir, dataDir);
      throw error;
    }
    onFailedStart(error);
  } finally {
    options.signal?.removeEventListener('abort', abortFirst);
  }
  const running = keepRunning();

  async function stopAll(how: 'fast' | 'immediate'): Promise<void> {
    state = 'stopping';
    waking.abort();
    if (server !== null) await stopPostgres(server.identity, files.cluster, log, how);
    // A start that is under way breaks off; what had just come up is stopped too.
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
