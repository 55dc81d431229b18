/** Starts the gateway's processes, keeps them running, passes messages on, stops them in order. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Pause, SealedCredential, TlsIdentity, UpMessage } from '../vocabulary/channel.ts';
import type { ClockReading } from '../vocabulary/clock.ts';
import type { Config, Setting } from '../vocabulary/config.ts';
import { OperatorError } from '../vocabulary/errors.ts';
import { readVersion } from '../vocabulary/version.ts';
import { writeAdminAccess } from './admin-access.ts';
import { bindPorts } from './bind-ports.ts';
import { childEnvironment } from './child-secrets.ts';
import { keepClockFile, readClockFile } from './clock-file.ts';
import { awaitPatiently, CONTROL_RESTART_MS, type ControlChildOptions, createControlChild } from './control-child.ts';
import { keepCredentialsFile, readCredentialsFile } from './credentials-file.ts';
import { openDataDirectory } from './data-directory.ts';
import { type Database, openDatabase } from './database.ts';
import { createDemoChild } from './demo-child.ts';
import { removeEmptySpools } from './empty-spools.ts';
import { createFirstAccess, type FirstAccess } from './first-access.ts';
import { endFormerChildren, noteChildren } from './former-children.ts';
import { createGatewayParts, listChildren, readGatewayStatus } from './gateway-parts.ts';
import { createKeyPublication } from './key-publication.ts';
import { createLimitBank } from './limits/limit-bank.ts';
import { keepPausesFile, readPausesFile } from './pauses-file.ts';
import { createProxyChildren } from './proxy-children.ts';
import { formatOrigin, proxyOrigin } from './proxy-origin.ts';
import { createRecentAttempts } from './recent-attempts.ts';
import { createRollingRestart } from './rolling-restart.ts';
import { refuseOtherRelease } from './same-release.ts';
import { createStopDelay } from './stop-delay.ts';
import { stopInOrder } from './stop-in-order.ts';
import type { SupervisedChild } from './supervised-child.ts';
import { createRefusalTeller } from './tell-refusals.ts';
import { openTlsRenewal } from './tls/tls-renewal.ts';

export interface SupervisorOptions {
  readonly config: Config;
  readonly settings: readonly Setting[];
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** False where others read the output of a start: it makes no key and no login link then. */
  readonly mayShowSecrets: boolean;
  /** Another gateway took the data directory; the stop has begun. */
  readonly onLost: () => void;
}

export interface ReadyGateway extends FirstAccess {
  /** Null: this node has no proxies and its settings name none. */
  readonly proxyOrigin: string | null;
}

export interface Supervisor {
  /** Resolves when calls can be made; rejects when everything is stopped again. Call it once. */
  readonly start: () => Promise<ReadyGateway>;
  /** Stops after the delay. A second call ends the delay; a later one waits for nothing (`isForced`). */
  readonly stop: () => { readonly stopped: Promise<void>; readonly isForced: boolean };
  /** Replaces the proxies one by one, then control, by what is on the disk now. */
  readonly restart: () => void;
}

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { log, entry, config } = options;
  const { dataDir } = config;
  const paths = {
    keys: join(dataDir, 'keys.json'),
    spool: join(dataDir, 'spool'),
    children: join(dataDir, 'children.json'),
    clock: join(dataDir, 'clock.json'),
    pauses: join(dataDir, 'pauses.json'),
    credentials: join(dataDir, 'credentials.json'),
  };
  const env = childEnvironment(options.env, join(dataDir, 'compile-cache'));
  const drainMs = config.drainSeconds * 1_000;
  const startedAtMs = Date.now();
  const version = readVersion();
  const aborter = new AbortController();
  const parts = createGatewayParts();
  const attempts = createRecentAttempts();
  const tellRefusals = createRefusalTeller(log);
  const publication = createKeyPublication((keyVersion, confirmed) => {
    parts.control?.send({ type: 'keys-published', version: keyVersion, confirmed });
  });
  const limits = createLimitBank();
  const restarts = createRollingRestart(async () => {
    refuseOtherRelease(version, readVersion());
    await parts.proxies?.replace();
    await parts.control?.restart(CONTROL_RESTART_MS);
  }, log);
  const delay = createStopDelay(config.stopDelaySeconds * 1_000);
  /** Control's last correction; null while the machine's clock is right. */
  let clockReading: ClockReading | null = null;
  /** What control said last, or what the file has of the time before. */
  let pauses: readonly Pause[] = [];
  let credentials: readonly SealedCredential[] = [];
  let isStarted = false;
  let isForced = false;
  let stopping: Promise<void> | null = null;
  let isStopBegun = false;

  // The start. Each part goes into `parts` at once, since a stop may come at any await.

  async function startAll(): Promise<ReadyGateway> {
    if (config.tls !== null && config.role !== 'control')
      parts.tls = await openTlsRenewal({ files: config.tls, onRenewed: onTlsRenewed, log, signal: aborter.signal });
    parts.directory = await openDataDirectory({
      path: dataDir,
      onWait: ({ host, pid }, waitMs) =>
        log.warn({ host, pidThere: pid, waitMs }, 'the data directory has another owner; waiting whether it lives'),
      onLost: () => {
        log.error('another gateway has taken the data directory; ending at once');
        void abandon().then(options.onLost);
      },
    });
    aborter.signal.throwIfAborted();
    const { lifelineFd, isOurs, exposure } = parts.directory;
    if (exposure !== null) log.warn(exposure);
    const isSetUp = existsSync(paths.keys);
    clockReading = readClockFile(paths.clock);
    pauses = readPausesFile(paths.pauses);
    credentials = readCredentialsFile(paths.credentials);
    await endFormerChildren(paths.children, log);
    removeEmptySpools(paths.spool);
    const { config: bound, sockets } = await bindPorts(config, parts);
    aborter.signal.throwIfAborted();
    // Only after the ports: a start that fails on them leaves nothing behind.
    const databaseStarting = openDatabase({
      databaseUrl: bound.databaseUrl,
      dataDir,
      isSetUp,
      mayBeAway: isSetUp || config.role === 'proxy',
      log,
      signal: aborter.signal,
      mayRun: isOurs,
      onMoved: onDatabaseMoved,
    });
    parts.databaseStarting = databaseStarting;
    databaseStarting.catch(() => {}); // Awaited below, and by a stop.
    // A node without proxies reads no certificate.
    const origin = proxyOrigin(bound, parts.tls?.status().names ?? []);
    const admin = writeAdminAccess(dataDir, formatOrigin(bound.adminHost, bound.adminPort), bound.adminToken);
    const base = { entry, env, lifelineFd, log };
    const given = { base, config: bound, spoolDir: paths.spool, keysFile: paths.keys };
    parts.proxies = createProxyChildren({
      ...given,
      sockets,
      drainMs,
      readClock: () => clockReading,
      readPauses: () => pauses,
      readCredentials: () => credentials,
      areKeysOld: publication.areKeysOld,
      readTls: () => parts.tls?.identity() ?? null,
      onMessage: onProxyMessage,
      onChange: onProxyChange,
    });
    if (parts.demoSockets !== null) parts.demo = createDemoChild(base, parts.demoSockets, onChange);
    await Promise.all([
      parts.proxies.start(),
      startControl(databaseStarting, isSetUp, { ...given, adminToken: admin.token, proxyOrigin: origin }),
      parts.demo?.start(),
    ]);
    aborter.signal.throwIfAborted();
    const proxies = config.role === 'control' ? bound.publicUrl : origin;
    const access = await createFirstAccess(dataDir, admin, { ...options, role: config.role, isSetUp });
    isStarted = true;
    log.info({ readyMs: Math.round(performance.now()), role: config.role, proxy: proxies, admin: admin.url }, 'ready');
    return { proxyOrigin: proxies, ...access };
  }

  async function startControl(
    databaseStarting: Promise<Database>,
    isSetUp: boolean,
    given: Pick<ControlChildOptions, 'base' | 'config' | 'spoolDir' | 'keysFile' | 'adminToken' | 'proxyOrigin'>,
  ): Promise<void> {
    const database = await databaseStarting;
    parts.database = database;
    aborter.signal.throwIfAborted();
    parts.control = createControlChild({
      ...given,
      settings: options.settings,
      connectionString: database.connectionString,
      listLiveSpools,
      onMessage: onControlMessage,
      onChange,
    });
    const ready = parts.control.start();
    await (isSetUp ? awaitPatiently(ready, warnOfControl) : ready);
  }

  function warnOfControl(): void {
    if (!aborter.signal.aborted) log.warn('the control process is not ready yet; calls are proxied and kept');
  }

  // Messages and changes of the children.

  function onProxyMessage(proxy: SupervisedChild, message: UpMessage): void {
    if (message.type === 'ready') {
      if (delay.hasBegun()) proxy.send({ type: 'stop-announced' });
      publication.ready(proxy);
      if (parts.tls !== null) proxy.send({ type: 'tls-renewed', identity: parts.tls.identity() });
      if (clockReading !== null) proxy.send({ type: 'clock', reading: clockReading });
      proxy.send({ type: 'pauses', pauses });
      proxy.send({ type: 'credentials', credentials });
    } else if (message.type === 'limit-ask') limits.ask(proxy, message);
    else if (message.type === 'limit-return') limits.giveBack(proxy, message);
    else if (message.type === 'keys-applied') publication.applied(proxy, message.version);
    else if (message.type === 'rejected') {
      attempts.add(message.attempts, message.notShown);
      if (config.role === 'proxy') tellRefusals(message.attempts);
    }
  }

  function onControlMessage(message: UpMessage): void {
    if (message.type === 'ready') {
      if (delay.hasBegun()) parts.control?.send({ type: 'stop-announced' });
    } else if (message.type === 'publish-keys') {
      publication.publish(message.change, parts.proxies?.children() ?? []);
    } else if (message.type === 'clock') {
      clockReading = message.reading;
      keepClockFile(paths.clock, message.reading, log);
      for (const proxy of parts.proxies?.children() ?? []) proxy.send(message);
    } else if (message.type === 'live-nodes') {
      limits.setNodes(message.count);
    } else if (message.type === 'pauses') {
      pauses = message.pauses;
      keepPausesFile(paths.pauses, pauses, log);
      for (const proxy of parts.proxies?.children() ?? []) proxy.send(message);
    } else if (message.type === 'credentials') {
      credentials = message.credentials;
      keepCredentialsFile(paths.credentials, credentials, log);
      for (const proxy of parts.proxies?.children() ?? []) proxy.send(message);
    } else if (message.type === 'restart-proxies') {
      restart();
    } else if (message.type === 'status-request') {
      const status = readGatewayStatus(startedAtMs, parts, restarts.status(), attempts, limits.listUse());
      parts.control?.send({ type: 'status', requestId: message.requestId, status });
    }
  }

  function onTlsRenewed(identity: TlsIdentity): void {
    for (const proxy of parts.proxies?.children() ?? []) proxy.send({ type: 'tls-renewed', identity });
  }

  function onProxyChange(proxy: SupervisedChild): void {
    if (proxy.identity() === null) {
      publication.ended(proxy);
      limits.ended(proxy);
    }
    onChange();
  }

  function onChange(): void {
    const identities = listChildren(parts).map((child) => child.identity());
    noteChildren(
      paths.children,
      identities.filter((identity) => identity !== null),
      log,
    );
    parts.control?.send({ type: 'live-spools', names: listLiveSpools() });
  }

  function onDatabaseMoved(): void {
    if (parts.control === null) return;
    log.warn('PostgreSQL has moved; restarting control');
    parts.control.restart(CONTROL_RESTART_MS).catch(() => {}); // Only when the gateway stops meanwhile.
  }

  function listLiveSpools(): readonly string[] {
    return parts.proxies?.liveSpools() ?? [];
  }

  function restart(): void {
    // New processes take the pair in force, so the files are read now.
    void parts.tls?.look(); // It never rejects.
    if (isStarted && stopping === null) restarts.request();
    else log.warn('not restarted: the gateway is starting or stopping');
  }

  function stop(): { readonly stopped: Promise<void>; readonly isForced: boolean } {
    if (stopping === null) stopping = isStarted && config.stopDelaySeconds > 0 ? stopAfterDelay() : stopNow();
    else if (isStopBegun) force();
    else delay.skip();
    return { stopped: stopping, isForced };
  }

  async function stopAfterDelay(): Promise<void> {
    log.info({ delayMs: config.stopDelaySeconds * 1_000 }, 'readyz says 503; serving on until the delay is over');
    for (const child of listChildren(parts)) child.send({ type: 'stop-announced' });
    await delay.wait();
    await stopNow();
  }

  function stopNow(): Promise<void> {
    isStopBegun = true;
    aborter.abort();
    return stopInOrder(parts, drainMs, () => isForced, log);
  }

  function force(): void {
    if (isForced) return;
    isForced = true;
    for (const child of listChildren(parts)) void child.stop(0);
  }

  /** Another gateway owns everything, so nothing of ours may write one more byte; clients see a cut. */
  async function abandon(): Promise<void> {
    aborter.abort();
    delay.skip();
    for (const child of listChildren(parts)) child.kill();
    isForced = true;
    await (await parts.databaseStarting?.catch(() => null))?.abandon();
    stopping ??= stopNow();
    await stopping;
  }

  return {
    start: async () => {
      try {
        return await startAll();
      } catch (error) {
        stopping ??= stopNow();
        await stopping;
        throw error instanceof OperatorError || !(error instanceof Error)
          ? error
          : new OperatorError(error.message, { cause: error });
      }
    },
    stop,
    restart,
  };
}
