/**
 * What every node does for itself, whatever its role is: it brings its spool into the database, hands keys and time to
 * its proxies, keeps its prices, gives its sign of life and accounts for its calls. What is done for all nodes is
 * `for-all-nodes.ts`'s.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { AccountsDep, AccountsReading, SpoolStatus } from '../admin/admin-deps.ts';
import type { ChildChannel, ControlStart, DownMessage } from '../channel.ts';
import type { CurrentPriceBook } from '../prices/current-price-book.ts';
import { listQuarantine } from '../shipper/list-quarantine.ts';
import { type Shipper, startShipper } from '../shipper/shipper.ts';
import { createWaitingCounter } from '../spool/count-waiting.ts';
import { listProcessDirectories } from '../spool/process-directories.ts';
import { finishReceived, IMPORT_NAME } from '../spool/receive-package.ts';
import { STANDBY_NAME } from '../spool/standby.ts';
import { listNodes, type StoredNode } from '../store/nodes.ts';
import { readVersion } from '../version.ts';
import { createCallAccounts } from './accounts/call-accounts.ts';
import { createProxyMemory } from './accounts/proxy-memory.ts';
import { readAccounts } from './accounts/read-accounts.ts';
import { type ControlPools, openControlPools } from './control-pools.ts';
import { endShipping } from './end-shipping.ts';
import { createKeyPublisher, type KeyPublisher } from './key-publisher.ts';
import { createNodeClock, type NodeClock } from './node-clock.ts';
import { readNodeId } from './node-identity.ts';
import { type NodeLoad, type NodePresence, startPresence } from './node-presence.ts';
import { readOwnSettings } from './own-settings.ts';
import { type Repeating, repeat } from './repeat.ts';
import { repeatKeys } from './repeat-keys.ts';
import { type RepeatedMigration, repeatMigration } from './repeat-migration.ts';
import { repeatPrices } from './repeat-prices.ts';
import { repeatStandbys } from './repeat-standbys.ts';
import { readSpoolStatus } from './spool-status.ts';
import { createStatusReader, type StatusReader } from './supervisor-status.ts';

/** There is one account so far. */
export const ACCOUNT_ID = 1;
export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** As often as the proxies say how they are: a process that dies has said little more than is remembered. */
const PROXY_POLL_MS = 1_000;

/** What works once the database has answered. */
export interface Connected {
  readonly shipper: Shipper;
  readonly keys: KeyPublisher;
  readonly presence: NodePresence;
  readonly repeated: readonly Repeating[];
}

export interface OwnNode {
  readonly start: ControlStart;
  readonly channel: ChildChannel;
  readonly log: Logger;
  readonly id: string;
  readonly clock: NodeClock;
  readonly pools: ControlPools;
  readonly prices: CurrentPriceBook;
  readonly status: StatusReader;
  readonly importDir: string;
  readonly quarantineDir: string;
  /** Null until the database answered and its schema is up to date. */
  readonly connected: () => Connected | null;
  readonly databaseProblem: () => string | null;
  readonly liveSpools: () => readonly string[];
  readonly isStopping: () => boolean;
  readonly accounts: AccountsDep;
  readonly readSpoolStatus: () => Promise<SpoolStatus | null>;
  /** Null when the database does not answer. */
  readonly listNodes: () => Promise<readonly StoredNode[] | null>;
  /** Begins; `onConnected` is called once, when the database can be worked with. */
  readonly begin: (onConnected: () => void) => void;
  readonly receive: (message: DownMessage) => void;
  /** Ends after `others` have, and what waits in the spool is stored, for as long as there is time. */
  readonly close: (drainMs: number, others: Promise<void>) => Promise<void>;
}

export function openOwnNode(
  { config, ...start }: ControlStart,
  channel: ChildChannel,
  prices: CurrentPriceBook,
  log: Logger,
): OwnNode {
  // Before the first proxy has made its own folder in it, the shipper looks there.
  mkdirSync(start.spoolDir, { recursive: true, mode: 0o700 });
  const pools = openControlPools(start.databaseUrl, config.role, log);
  const clock = createNodeClock({ onReading: (reading) => channel.send({ type: 'clock', reading }) });
  const id = readNodeId(config.dataDir, log);
  const importDir = join(config.dataDir, IMPORT_NAME);
  const quarantineDir = join(config.dataDir, 'quarantine');
  const status: StatusReader = createStatusReader(channel.send);
  const memory = createProxyMemory(Date.now());
  const gone = createCallAccounts(join(config.dataDir, 'call-accounts.json'));
  const counter = createWaitingCounter();
  /** What a crash has left half way was brought in. */
  let isSpoolReady = false;
  let connected: Connected | null = null;
  let connecting: RepeatedMigration | null = null;
  let liveSpools = start.liveSpools;
  let isStopping = false;

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

  function connect(): Connected {
    const shipper = startShipper({
      ...{ pool: pools.shipper, spoolDir: start.spoolDir, quarantineDir, prices, log, nowMs: clock.nowMs },
      onEnded: (ended) => {
        const said = memory.lastOf(ended.name);
        return gone.takeIn(ended, said === null ? 0 : said.keptTotal + said.recordsLost);
      },
    });
    shipper.setLiveSpools(liveSpools);
    const keys = createKeyPublisher({
      ...{ pool: pools.api, file: start.keysFile, log },
      send: (change) => channel.send({ type: 'publish-keys', change }),
    });
    const presence = startPresence({
      ...{
        pool: pools.presence,
        id,
        name: config.node,
        version: readVersion(),
        role: config.role,
        clock,
        log,
        readLoad,
      },
      own: readOwnSettings(config, start.settings),
    });
    return { shipper, keys, presence, repeated: [repeatKeys(keys, log), repeatPrices(prices, pools.api, log)] };
  }

  async function onMigrated(): Promise<void> {
    if (!isSpoolReady)
      for (const name of await finishReceived(importDir, start.spoolDir))
        log.info({ process: name }, 'the spool of another node was taken in');
    isSpoolReady = true;
    // Before the first key is handed to a proxy: no call is dated by a clock that is wrong.
    await clock.compare(pools.shipper);
    connected = connect();
  }

  const watching = repeat(async () => {
    const stepMs = clock.watch();
    if (stepMs !== 0)
      log.warn(
        { stepMs },
        'the clock of this machine has jumped; calls are dated as if it had not, until the database says otherwise',
      );
    const supervisor = await status.read();
    if (supervisor !== null) memory.note(supervisor);
    return PROXY_POLL_MS;
  });
  const standbys = config.role === 'control' ? [] : [repeatStandbys(join(config.dataDir, STANDBY_NAME), log)];

  return {
    ...{ start: { config, ...start }, channel, log, id, clock, pools, prices, status, importDir, quarantineDir },
    connected: () => connected,
    databaseProblem: () => connecting?.problem() ?? null,
    liveSpools: () => liveSpools,
    isStopping: () => isStopping,
    accounts: {
      read: readCallAccounts,
      listQuarantine: () => listQuarantine(quarantineDir),
      countOfProxies: memory.counts,
      readShipper: () => connected?.shipper.stats() ?? null,
    },
    readSpoolStatus: () => readSpoolStatus(start.spoolDir),
    listNodes: async () => {
      try {
        return connected === null ? null : await listNodes(pools.api);
      } catch {
        // What cannot be known is not shown.
        return null;
      }
    },
    begin: (onConnected) => {
      connecting = repeatMigration({
        ...{ pool: pools.shipper, connectionString: start.databaseUrl, log },
        migrationsDir: join(PROJECT_ROOT, 'migrations'),
        onMigrated: async () => {
          await onMigrated();
          onConnected();
        },
      });
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
    close: async (drainMs, others) => {
      const repeated = [connecting, watching, ...standbys, ...(connected?.repeated ?? [])];
      await Promise.all([others, ...repeated.map((one) => one?.stop())]);
      await endShipping(connected?.shipper ?? null, drainMs, log);
      await connected?.presence.stop();
      pools.end();
    },
  };
}
