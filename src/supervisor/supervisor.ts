/**
 * Starts the gateway's processes, keeps them running, carries their messages, and stops them in order. It answers no
 * call and reads no record: a crash of any child is a line in its log and a new process.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { StartMessage, SupervisorStatus, UpMessage } from '../channel.ts';
import type { Config, Setting } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { formatOrigin } from '../format-origin.ts';
import { readVersion } from '../version.ts';
import { type AdminAccess, createFirstKey, createLoginLink, writeAdminAccess } from './admin-access.ts';
import { childEnvironment, controlConfig, proxyConfig } from './child-secrets.ts';
import { type DataDirectory, openDataDirectory } from './data-directory.ts';
import { type Database, openDatabase } from './database.ts';
import { addDemoAlias } from './demo-alias.ts';
import { removeEmptySpool, removeEmptySpools } from './empty-spools.ts';
import { endFormerChildren, writeChildren } from './former-children.ts';
import { createKeyPublication } from './key-publication.ts';
import { checkAdminPort, type ListeningSockets, openListeningSockets } from './listening-sockets.ts';
import { createProxyFleet, type ProxyFleet } from './proxy-fleet.ts';
import { createRecentAttempts } from './recent-attempts.ts';
import { createRollingRestart } from './rolling-restart.ts';
import { refuseOtherRelease } from './same-release.ts';
import { createSupervisedChild, LISTEN_FD, type SupervisedChild } from './supervised-child.ts';

/** For the shipper to bring what is left into the database. */
const CONTROL_STOP_MS = 10_000;
const DEMO_STOP_MS = 1_000;
/** One that is restarted leaves what is in the spool to its successor. */
const CONTROL_RESTART_MS = 1_000;
const PROXY_READINESS_MS = 20_000;
/** Migrations of a large database run before control is ready. */
const CONTROL_READINESS_MS = 120_000;
/** A gateway that has been set up does not wait longer than this for its control process to call itself started. */
const CONTROL_PATIENCE_MS = 15_000;

export interface SupervisorOptions {
  readonly config: Config;
  /** The same for people to see. */
  readonly settings: readonly Setting[];
  /** The program to fork for each child; it gets the hidden command `internal-<role>` as its argument. */
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Another gateway took the data directory; `stop` has been called. */
  readonly onLost: () => void;
}

/** What the banner of a start says. */
export interface ReadyGateway {
  readonly proxyOrigin: string;
  /** A link that signs in one browser; just the address when none could be made. */
  readonly dashboardUrl: string;
  /** At the first start only. */
  readonly firstKey: string | null;
}

export interface Supervisor {
  /** Resolves when calls can be made. When it rejects, everything that had been started is stopped. Call it once. */
  readonly start: () => Promise<ReadyGateway>;
  /** Proxies drain, then the control process ships, then the database stops. Idempotent; `force` ends the waiting. */
  readonly stop: (force?: boolean) => Promise<void>;
  /** Replaces the proxy processes one by one, then the control process, each by what is on the disk now. */
  readonly restart: () => void;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { log, entry } = options;
  const { dataDir } = options.config;
  const paths = {
    keys: join(dataDir, 'keys.json'),
    spool: join(dataDir, 'spool'),
    children: join(dataDir, 'children.json'),
  };
  const env = childEnvironment(options.env, join(dataDir, 'compile-cache'));
  const startedAtMs = Date.now();
  const aborter = new AbortController();
  const attempts = createRecentAttempts();
  const publication = createKeyPublication((version, confirmed) => {
    control?.send({ type: 'keys-published', version, confirmed });
  });
  let directory: DataDirectory | null = null;
  let sockets: ListeningSockets | null = null;
  let demoSockets: ListeningSockets | null = null;
  let databaseStarting: Promise<Database> | null = null;
  let database: Database | null = null;
  let proxies: ProxyFleet | null = null;
  let control: SupervisedChild | null = null;
  let demo: SupervisedChild | null = null;
  let stopping: Promise<void> | null = null;
  let isForced = false;
  let isStarted = false;
  const drainMs = options.config.drainSeconds * 1_000;
  const version = readVersion();
  const restarts = createRollingRestart(async () => {
    refuseOtherRelease(version, readVersion());
    await proxies?.replace();
    await control?.restart(CONTROL_RESTART_MS);
  }, log);

  function listChildren(): SupervisedChild[] {
    return [...(proxies?.children() ?? []), control, demo].filter((child) => child !== null);
  }

  function listLiveSpools(): readonly string[] {
    return proxies?.liveSpools() ?? [];
  }

  function restart(): void {
    if (isStarted && stopping === null) restarts.request();
    else log.warn('not restarted: the gateway is starting or stopping');
  }

  function readStatus(): SupervisorStatus {
    const database_ = database?.status() ?? null;
    return {
      ...{ startedAtMs, restart: restarts.status() },
      children: [...listChildren().map((child) => child.status()), ...(database_ === null ? [] : [database_])],
      attempts: attempts.list(),
      attemptsTotal: attempts.total(),
      attemptsNotShown: attempts.notShown(),
    };
  }

  function onChange(): void {
    try {
      const identities = listChildren().map((child) => child.identity());
      writeChildren(
        paths.children,
        identities.filter((identity) => identity !== null),
      );
    } catch (error) {
      // A full disk: the note helps the start after a kill -9 only.
      log.warn({ err: error }, 'cannot note the children');
    }
    control?.send({ type: 'live-spools', names: listLiveSpools() });
  }

  function onProxyMessage(proxy: SupervisedChild, message: UpMessage): void {
    if (message.type === 'ready') publication.ready(proxy);
    else if (message.type === 'keys-applied') publication.applied(proxy, message.version);
    else if (message.type === 'rejected') attempts.add(message.attempts, message.notShown);
  }

  function onControlMessage(message: UpMessage): void {
    if (message.type === 'publish-keys') {
      publication.publish(message.change, proxies?.children() ?? []);
    } else if (message.type === 'restart-proxies') {
      restart();
    } else if (message.type === 'status-request') {
      control?.send({ type: 'status', requestId: message.requestId, status: readStatus() });
    }
  }

  function createChild(
    role: 'proxy' | 'control' | 'demo',
    listenFd: number | null,
    createStart: () => StartMessage,
    onMessage: (message: UpMessage) => void,
    onChildChange: () => void = onChange,
    maxEarlyExits?: number,
  ): SupervisedChild {
    const readinessTimeoutMs = role === 'control' ? CONTROL_READINESS_MS : PROXY_READINESS_MS;
    return createSupervisedChild({
      ...{ role, entry, env, listenFd, readinessTimeoutMs, log, lifelineFd: directory?.lifelineFd ?? null },
      ...{ createStart, onMessage, onChange: onChildChange },
      ...(maxEarlyExits === undefined ? {} : { maxEarlyExits }),
    });
  }

  function createFleet(config: Config, bound: ListeningSockets): ProxyFleet {
    return createProxyFleet({
      listenFds: bound.sockets.map((socket) => socket.fd()),
      createStart: (spoolName) => ({
        ...{ type: 'start', role: 'proxy', config: proxyConfig(config), listenFd: LISTEN_FD },
        ...{ spoolDir: paths.spool, spoolName, keysFile: paths.keys },
      }),
      createChild: (listenFd, maxEarlyExits, createStart, onMessage, onChildChange) => {
        const child: SupervisedChild = createChild(
          'proxy',
          listenFd,
          createStart,
          (message) => onMessage(child, message),
          () => onChildChange(child),
          maxEarlyExits,
        );
        return child;
      },
      onMessage: onProxyMessage,
      onSpoolEnd: (name) => removeEmptySpool(paths.spool, name),
      onChange: (child) => {
        if (child.identity() === null) publication.ended(child);
        onChange();
      },
      ...{ drainMs, log },
    });
  }

  /** Its address is known before it runs: the sockets are the supervisor's. */
  function startDemo(bound: ListeningSockets): Promise<void> {
    const origin = formatOrigin(bound.host, bound.port);
    demo = createChild(
      'demo',
      bound.sockets[0]?.fd() ?? null,
      () => ({ type: 'start', role: 'demo', listenFd: LISTEN_FD, origin }),
      () => {},
    );
    return demo.start();
  }

  async function startProxies(config: Config, bound: ListeningSockets): Promise<void> {
    proxies = createFleet(config, bound);
    await proxies.start();
  }

  async function startControl(config: Config, admin: AdminAccess, isSetUp: boolean): Promise<void> {
    if (databaseStarting === null) return;
    database = await databaseStarting;
    aborter.signal.throwIfAborted();
    const { connectionString } = database;
    control = createChild(
      'control',
      null,
      () => ({
        ...{ type: 'start', role: 'control', config: controlConfig(config) },
        ...{ adminToken: admin.token, databaseUrl: connectionString() },
        ...{ spoolDir: paths.spool, keysFile: paths.keys, liveSpools: listLiveSpools(), settings: options.settings },
      }),
      onControlMessage,
    );
    const ready = control.start();
    if (!isSetUp) return ready;
    // Calls can be proxied without it: it goes on trying, and the log says why it fails.
    const patience = Promise.withResolvers<void>();
    const limit = setTimeout(() => patience.reject(new Error('not ready in time')), CONTROL_PATIENCE_MS);
    await Promise.race([ready, patience.promise]).catch(warnOfControl);
    clearTimeout(limit);
  }

  function warnOfControl(): void {
    if (!aborter.signal.aborted) log.warn('the control process is not ready yet; calls are proxied and kept');
  }

  async function startAll(): Promise<ReadyGateway> {
    directory = await openDataDirectory({
      path: dataDir,
      onWait: ({ host, pid }, waitMs) =>
        log.warn({ host, pidThere: pid, waitMs }, 'the data directory has another owner; waiting whether it lives'),
      onLost: () => {
        log.error('another gateway has taken the data directory; ending at once');
        void abandon().then(options.onLost);
      },
    });
    aborter.signal.throwIfAborted();
    const isSetUp = existsSync(paths.keys);
    await endFormerChildren(paths.children, log);
    removeEmptySpools(paths.spool);
    const { host, port, adminHost, adminPort, workers, adminToken } = options.config;
    sockets = await openListeningSockets(host, port, workers);
    const adminAddress = await checkAdminPort(adminHost, adminPort);
    const adminOrigin = formatOrigin(adminAddress.host, adminAddress.port);
    // Not before the ports are known to be free: a start that fails on them leaves nothing behind.
    databaseStarting = openDatabase({
      databaseUrl: options.config.databaseUrl,
      ...{ dataDir, isSetUp, log, signal: aborter.signal, mayRun: directory.isOurs },
      onMoved: () => {
        // It gets the new address with its `start`.
        if (control === null) return;
        log.warn('PostgreSQL has moved; restarting control');
        control.restart(CONTROL_RESTART_MS).catch(() => {}); // Only when the gateway stops meanwhile.
      },
    });
    databaseStarting.catch(() => {});
    const admin = writeAdminAccess(dataDir, adminOrigin, adminToken);
    const bound: Config = {
      ...options.config,
      ...{ host: sockets.host, port: sockets.port, adminHost: adminAddress.host, adminPort: adminAddress.port },
    };
    if (bound.demo) demoSockets = await openListeningSockets('127.0.0.1', 0, 1);
    const config = demoSockets === null ? bound : addDemoAlias(bound, demoSockets);
    aborter.signal.throwIfAborted();
    await Promise.all([
      startProxies(config, sockets),
      startControl(config, admin, isSetUp),
      demoSockets === null ? null : startDemo(demoSockets),
    ]);
    aborter.signal.throwIfAborted();
    const firstKey = await createFirstKey(dataDir, admin).catch((error: unknown) => {
      log.warn({ err: error }, 'the first key could not be made; make one with `tollgate keys create NAME`');
      return null;
    });
    const dashboardUrl = await createLoginLink(admin).catch((error: unknown) => {
      log.warn({ err: error }, 'a login link could not be made; make one with `tollgate login`');
      return adminOrigin;
    });
    const proxyOrigin = bound.publicUrl ?? formatOrigin(sockets.host, sockets.port);
    isStarted = true;
    log.info({ readyMs: Math.round(performance.now()), proxy: proxyOrigin, admin: adminOrigin }, 'ready');
    return { proxyOrigin, dashboardUrl, firstKey };
  }

  async function stopAll(): Promise<void> {
    // Ours are copies: with them open the port would go on taking connections that nobody serves.
    for (const socket of [...(sockets?.sockets ?? []), ...(demoSockets?.sockets ?? [])]) socket.close();
    const limit = (ms: number) => (isForced ? 0 : ms);
    await proxies?.stop(limit(drainMs));
    await Promise.all([control?.stop(limit(CONTROL_STOP_MS)), demo?.stop(limit(DEMO_STOP_MS))]);
    // A start that was under way ends first, so that nothing is left behind.
    const opened = await databaseStarting?.catch(() => null);
    await opened?.stop();
    // Without it nothing had been started, and there is nothing to tell.
    if (directory === null) return;
    directory.release();
    log.info('stopped');
  }

  /**
   * Everything belongs to another gateway: it ships the spool, reads what proxies of ours would still write as that of
   * dead ones, and may have the database open. So nothing of ours may write one more byte, and clients see a cut.
   */
  async function abandon(): Promise<void> {
    aborter.abort();
    for (const child of listChildren()) child.kill();
    isForced = true;
    await (await databaseStarting?.catch(() => null))?.abandon();
    stopping ??= stopAll();
    await stopping;
  }

  function stop(force = false): Promise<void> {
    aborter.abort();
    if (force && !isForced) {
      isForced = true;
      for (const child of listChildren()) void child.stop(0);
    }
    stopping ??= stopAll();
    return stopping;
  }

  return {
    start: async () => {
      try {
        return await startAll();
      } catch (error) {
        await stop();
        throw error instanceof OperatorError || !(error instanceof Error)
          ? error
          : new OperatorError(error.message, { cause: error });
      }
    },
    stop,
    restart,
  };
}
