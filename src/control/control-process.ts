/**
 * The control process: the shipper, the admin API, jobs and the publication of keys, for as long as the supervisor wants it.
 * It opens its API before the database answers, and lives on while that is away. It never touches a call.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { watchAdminAccess } from '../admin/admin-access.ts';
import { createAdminApp } from '../admin/admin-app.ts';
import type { AccountsReading } from '../admin/admin-deps.ts';
import { type AdminServer, limitAdmin, listenAdmin } from '../admin/admin-server.ts';
import { readDashboardFiles } from '../admin/dashboard-files.ts';
import { openEndedSessions } from '../admin/ended-sessions.ts';
import type { ChildChannel, ControlStart, DownMessage, UpMessage } from '../channel.ts';
import type { Config } from '../config.ts';
import { createDemoData } from '../demo-data/demo-data.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import { createPriceCatalogs } from '../prices/price-catalogs.ts';
import { listQuarantine } from '../shipper/list-quarantine.ts';
import { type Shipper, startShipper } from '../shipper/shipper.ts';
import { readOpenFileLimit } from '../sockets/open-file-limit.ts';
import { createTrustedPeers } from '../sockets/trusted-peers.ts';
import { createWaitingCounter } from '../spool/count-waiting.ts';
import { listProcessDirectories } from '../spool/process-directories.ts';
import { finishReceived, IMPORT_NAME } from '../spool/receive-package.ts';
import { STANDBY_NAME } from '../spool/standby.ts';
import { listNodes, type StoredNode } from '../store/nodes.ts';
import type { SharedSettings } from '../store/shared-settings.ts';
import { readVersion } from '../version.ts';
import { createCallAccounts } from './accounts/call-accounts.ts';
import { createProxyMemory } from './accounts/proxy-memory.ts';
import { readAccounts } from './accounts/read-accounts.ts';
import { createBackups } from './backups.ts';
import { openControlPools } from './control-pools.ts';
import { endShipping } from './end-shipping.ts';
import { createKeyPublisher, type KeyPublisher } from './key-publisher.ts';
import { createNodeClock } from './node-clock.ts';
import { readNodeId } from './node-identity.ts';
import { type NodeLoad, type NodePresence, startPresence } from './node-presence.ts';
import { readOwnSettings } from './own-settings.ts';
import { type Repeating, repeat } from './repeat.ts';
import { repeatEstimates } from './repeat-estimates.ts';
import { repeatFeed } from './repeat-feed.ts';
import { repeatGoneNodes } from './repeat-gone-nodes.ts';
import { repeatKeys } from './repeat-keys.ts';
import { repeatMigration } from './repeat-migration.ts';
import { repeatPriceUpdates } from './repeat-price-updates.ts';
import { repeatPrices } from './repeat-prices.ts';
import { repeatRetention } from './repeat-retention.ts';
import { repeatSessions } from './repeat-sessions.ts';
import { repeatStandbys } from './repeat-standbys.ts';
import { type JobThread, runJobThread } from './run-job-thread.ts';
import { formatShipperStatus } from './shipper-status.ts';
import { createSpoolImports } from './spool-imports.ts';
import { readSpoolStatus } from './spool-status.ts';
import { createStatusReader, type StatusReader } from './supervisor-status.ts';

const ACCOUNT_ID = 1;
/** As often as the proxies say how they are: a process that dies has said little more than is remembered. */
const PROXY_POLL_MS = 1_000;
/** Of a whole look, over a slow line. */
const FEED_TIMEOUT_MS = 30_000;
/** The most that an orderly end waits for the last records. */
const DRAIN_LIMIT_MS = 10_000;
/** Without a supervisor the whole process must be gone within 5 s. */
const ORPHAN_DRAIN_MS = 3_000;

export interface ControlOptions {
  readonly connectToSupervisor: () => ChildChannel;
  readonly createLog: (settings: { readonly level: Config['logLevel']; readonly role: string }) => Logger;
  /** Loaded here and not by `main`, since no other process needs the prices. */
  readonly openPrices: (accountId: number) => Promise<CurrentPriceBook>;
  /** Told when the API is up; tests need its port. */
  readonly onListening?: (port: number) => void;
  /** Ends the process, at the end of an orderly stop. */
  readonly exit?: (code: number) => void;
}

const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Runs until the supervisor says stop or is gone; rejects with an OperatorError when the admin address cannot be used. */
export async function runControlProcess(options: ControlOptions): Promise<void> {
  const channel = options.connectToSupervisor();
  // Messages that come meanwhile are kept by the channel.
  const prices = await options.openPrices(ACCOUNT_ID);
  await serve(options, channel, prices);
  const exit = options.exit ?? ((code: number) => process.exit(code));
  exit(0);
}

function serve(options: ControlOptions, channel: ChildChannel, prices: CurrentPriceBook): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let control: Control | null = null;
  channel.onMessage((message) => {
    if (message.type === 'start') {
      if (message.role !== 'control' || control !== null) return;
      control = createControl(options, channel, prices, message);
      control.listen().catch(reject);
    } else if (message.type === 'stop') {
      end(Math.min(DRAIN_LIMIT_MS, message.graceMs));
    } else {
      control?.receive(message);
    }
  });
  channel.onDisconnect(() => end(ORPHAN_DRAIN_MS));
  let isEnding = false;
  function end(drainMs: number): void {
    if (isEnding) return;
    isEnding = true;
    if (control === null) resolve();
    else control.close(drainMs).then(resolve, reject);
  }
  return promise;
}

interface Control {
  readonly listen: () => Promise<void>;
  readonly receive: (message: DownMessage) => void;
  readonly close: (drainMs: number) => Promise<void>;
}

/** What works once the database has answered. */
interface Connected {
  readonly shipper: Shipper;
  readonly keys: KeyPublisher;
  readonly repeated: readonly Repeating[];
  readonly jobs: JobThread;
  readonly presence: NodePresence;
}

function createControl(
  options: ControlOptions,
  channel: ChildChannel,
  prices: CurrentPriceBook,
  start: ControlStart,
): Control {
  const { config } = start;
  const log = options.createLog({ level: config.logLevel, role: 'control' });
  // Before the first proxy has made its own folder in it, the shipper looks there.
  mkdirSync(start.spoolDir, { recursive: true, mode: 0o700 });
  const pools = openControlPools(start.databaseUrl, log);
  const nodeClock = createNodeClock({ onReading: (reading) => channel.send({ type: 'clock', reading }) });
  const nodeId = readNodeId(config.dataDir, log);
  const own = readOwnSettings(config, start.settings);
  const sharedSettings = (): SharedSettings | null => connected?.presence.shared() ?? null;
  const daysKept = (name: 'retention_rows' | 'retention_bodies', ownDays: number): number =>
    Number(sharedSettings()?.[name].value ?? ownDays);
  const importDir = join(config.dataDir, IMPORT_NAME);
  /** What a crash has left half way was brought in. */
  let isSpoolReady = false;
  let connected: Connected | null = null;
  const status: StatusReader = createStatusReader(channel.send);
  const catalogs = createPriceCatalogs({
    accountId: ACCOUNT_ID,
    feed: { setting: config.priceFeed, egress: config.egress, timeoutMs: FEED_TIMEOUT_MS, now: nodeClock.nowMs },
  });
  let liveSpools = start.liveSpools;
  let isStopping = false;
  const memory = createProxyMemory(Date.now());
  const gone = createCallAccounts(join(config.dataDir, 'call-accounts.json'));
  const counter = createWaitingCounter();
  const quarantineDir = join(config.dataDir, 'quarantine');
  const endedSessions = openEndedSessions(join(config.dataDir, 'ended-sessions.json'), log, nodeClock.nowMs);
  let server: AdminServer | null = null;

  function connect(): Connected {
    const shipper = startShipper({
      ...{ pool: pools.shipper, spoolDir: start.spoolDir, quarantineDir, prices, log, nowMs: nodeClock.nowMs },
      onEnded: (ended) => {
        const said = memory.lastOf(ended.name);
        return gone.takeIn(ended, said === null ? 0 : said.keptTotal + said.recordsLost);
      },
    });
    shipper.setLiveSpools(liveSpools);
    const send = (change: Extract<UpMessage, { type: 'publish-keys' }>['change']): void => {
      channel.send({ type: 'publish-keys', change });
    };
    const keys = createKeyPublisher({ pool: pools.api, file: start.keysFile, send, log });
    return {
      shipper,
      keys,
      repeated: [
        repeatKeys(keys, log),
        repeatSessions(endedSessions, pools.api, log),
        repeatPrices(prices, pools.api, log),
        repeatPriceUpdates(pools.api, ACCOUNT_ID, prices, log),
        repeatRetention(pools.retention, nodeClock, log),
        repeatFeed({
          ...{ pool: pools.api, catalogs, log, nowMs: nodeClock.nowMs },
          isOn: () => sharedSettings()?.price_feed.value === 'on',
        }),
        repeatEstimates({
          ...{ pool: pools.estimates, own: config.estimates, shared: sharedSettings, nowMs: nodeClock.nowMs, log },
          priceCall: (call) => prices.book().priceCall(call),
        }),
        repeatGoneNodes({ pool: pools.api, clock: nodeClock, shared: sharedSettings, prices, quarantineDir, log }),
      ],
      presence: startPresence({
        ...{ pool: pools.presence, id: nodeId, name: config.node, version: readVersion(), own, clock: nodeClock, log },
        readLoad,
      }),
      jobs: runJobThread({
        pool: pools.api,
        settings: { databaseUrl: start.databaseUrl, accountId: ACCOUNT_ID },
        log,
      }),
    };
  }

  async function readLoad(): Promise<NodeLoad> {
    const [reading, processes] = await Promise.all([
      readCallAccounts(),
      listProcessDirectories(start.spoolDir).catch(() => null),
    ]);
    return {
      recordsWaiting: reading?.spooled ?? null,
      openCalls: reading?.inFlight ?? null,
      processes: processes === null ? null : [...new Set([...processes, ...liveSpools])],
    };
  }

  async function readCallAccounts(): Promise<AccountsReading | null> {
    try {
      return await readAccounts({
        ...{ spoolDir: start.spoolDir, gone, memory, counter, readSupervisorStatus: status.read },
        listLiveSpools: () => liveSpools,
      });
    } catch (error) {
      log.warn({ err: error }, 'the accounts of the calls cannot be read');
      return null;
    }
  }

  async function listAllNodes(): Promise<readonly StoredNode[] | null> {
    try {
      return connected === null ? null : await listNodes(pools.api);
    } catch {
      // What cannot be known is not shown.
      return null;
    }
  }

  const watching = repeat(async () => {
    const stepMs = nodeClock.watch();
    if (stepMs !== 0)
      log.warn(
        { stepMs },
        'the clock of this machine has jumped; calls are dated as if it had not, until the database says otherwise',
      );
    const supervisor = await status.read();
    if (supervisor !== null) memory.note(supervisor);
    return PROXY_POLL_MS;
  });
  const standbys = repeatStandbys(join(config.dataDir, STANDBY_NAME), log);
  const connecting = repeatMigration({
    ...{ pool: pools.shipper, connectionString: start.databaseUrl, log },
    migrationsDir: join(PROJECT_ROOT, 'migrations'),
    onMigrated: async () => {
      if (!isSpoolReady)
        for (const name of await finishReceived(importDir, start.spoolDir))
          log.info({ process: name }, 'the spool of another node was taken in');
      isSpoolReady = true;
      // Before the first key is handed to a proxy: no call is dated by a clock that is wrong.
      await nodeClock.compare(pools.shipper);
      connected = connect();
    },
  });

  const publishKeys = (version: number) => connected?.keys.publish(version) ?? Promise.resolve(false);
  const backups = createBackups({
    databaseUrl: start.databaseUrl,
    pool: pools.api,
    accountId: ACCOUNT_ID,
    tollgateVersion: readVersion(),
    quarantineDir,
    prices,
    shipper: () => connected?.shipper ?? null,
    readSpoolStatus: () => readSpoolStatus(start.spoolDir),
    publishKeys,
    nowMs: nodeClock.nowMs,
    log,
  });

  const access = watchAdminAccess(log);
  const app = createAdminApp({
    accountId: ACCOUNT_ID,
    adminToken: start.adminToken,
    adminHost: config.adminHost,
    endedSessions,
    access,
    adminPublicUrl: config.adminPublicUrl,
    publicUrl: config.publicUrl,
    baseUrl: start.proxyOrigin,
    version: readVersion(),
    dashboard: readDashboardFiles(join(PROJECT_ROOT, 'dist', 'dashboard')),
    databaseUrl: start.databaseUrl,
    isStopping: () => isStopping,
    database: () => (connected === null ? null : pools.api),
    databaseProblem: connecting.problem,
    publishKeys,
    readSupervisorStatus: status.read,
    requestRestart: async () => {
      channel.send({ type: 'restart-proxies' });
      // Asked behind it on the same channel, so that the answer counts it.
      return (await status.read())?.restart ?? null;
    },
    readShipperStatus: () => formatShipperStatus(connected?.shipper.stats() ?? null),
    readSpoolStatus: () => readSpoolStatus(start.spoolDir),
    accounts: {
      read: readCallAccounts,
      listQuarantine: () => listQuarantine(quarantineDir),
      countOfProxies: memory.counts,
      readShipper: () => connected?.shipper.stats() ?? null,
    },
    metricsToken: config.metricsToken,
    countRunningJobs: () => Promise.resolve(connected?.jobs.countActive() ?? null),
    demoData: createDemoData({
      pool: pools.api,
      accountId: ACCOUNT_ID,
      priceCall: (call) => prices.book().priceCall(call),
      get retentionRowsDays() {
        return daysKept('retention_rows', config.retentionRowsDays);
      },
      get retentionBodiesDays() {
        return daysKept('retention_bodies', config.retentionBodiesDays);
      },
      now: nodeClock.nowMs,
    }),
    backups,
    settings: start.settings,
    prices,
    catalogs,
    spoolImports: createSpoolImports({
      ...{ importDir, spoolDir: start.spoolDir, pool: pools.api, nodeId, listLiveSpools: () => liveSpools },
      onReceived: (names) => connected?.shipper.adopt(names),
    }),
    nodes: {
      ownId: nodeId,
      list: listAllNodes,
      clock: nodeClock.state,
      onSettingsChanged: async () => connected?.presence.refresh(pools.api),
    },
    nowMs: nodeClock.nowMs,
    log,
  });

  return {
    listen: async () => {
      server = await listenAdmin(app, config.adminHost, config.adminPort, {
        limits: limitAdmin(readOpenFileLimit()),
        trusted: createTrustedPeers(config.trustedProxies),
        onClosedConnection: access.noteClosedConnection,
      });
      options.onListening?.(server.port);
      channel.send({ type: 'ready' });
    },
    receive: (message) => {
      if (message.type === 'stop-announced') {
        isStopping = true;
      } else if (message.type === 'live-spools') {
        liveSpools = message.names;
        connected?.shipper.setLiveSpools(message.names);
      } else if (message.type === 'keys-published') {
        connected?.keys.onPublished(message.version, message.confirmed);
      } else if (message.type === 'status') {
        status.onStatus(message.requestId, message.status);
      }
    },
    close: async (drainMs) => {
      await server?.close();
      const repeated = [connecting, watching, standbys, ...(connected?.repeated ?? [])];
      await Promise.all([...repeated.map((one) => one.stop()), connected?.jobs.stop()]);
      await endShipping(connected?.shipper ?? null, drainMs, log);
      await connected?.presence.stop();
      pools.end();
    },
  };
}
