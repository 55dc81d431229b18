/**
 * What every node does for itself: ships its spool, hands keys and time to its proxies, keeps prices, gives signs of
 * life and accounts for its calls. `for-all-nodes.ts` has the rest.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { LEDGER_NAME } from '../../budgets/ledger-file.ts';
import { createWaitingCounter } from '../../spool/count-waiting.ts';
import { defaultMaxBytes, measureDisk } from '../../spool/disk-space.ts';
import { PREPARED_NAME } from '../../spool/prepared-directory.ts';
import { listProcessDirectories } from '../../spool/process-directories.ts';
import { finishReceived, IMPORT_NAME } from '../../spool/receive-package.ts';
import type { ChildChannel, ControlStart, DownMessage } from '../../vocabulary/channel.ts';
import type { LedgerDep, LedgerSnapshot, SpoolStatus } from '../admin/admin-deps.ts';
import { openNodeBudgets } from '../budgets/node-budgets.ts';
import { countEnded } from '../ledger/balance-process.ts';
import { openLedgerFile } from '../ledger/ledger-file.ts';
import { createProxyMemory } from '../ledger/proxy-memory.ts';
import { readLedger } from '../ledger/read-ledger.ts';
import type { CurrentPriceBook } from '../prices/declared/current-price-book.ts';
import { listQuarantine } from '../shipper/list-quarantine.ts';
import type { Shipper } from '../shipper/shipper.ts';
import { raiseAccountWall, type WallRole } from '../store/account-wall.ts';
import { listNodes, type StoredNode } from '../store/nodes.ts';
import { readSharedSettings } from '../store/shared-settings.ts';
import { type Connected, connectNode, type NodeParts } from './connect-node.ts';
import { openControlPools } from './control-pools.ts';
import { createNodeClock } from './node-clock.ts';
import { readNodeId } from './node-identity.ts';
import type { NodeLoad } from './node-presence.ts';
import { repeat } from './repeat.ts';
import { type RepeatedMigration, repeatMigration } from './repeat-migration.ts';
import { repeatPreparing } from './repeat-preparing.ts';
import { createStatusReader, type StatusReader } from './supervisor-status.ts';

export const PROJECT_ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Matches the proxies' reports, so that a dying process has said little more than is remembered. */
const PROXY_POLL_MS = 1_000;
export interface OwnNode extends NodeParts {
  readonly status: StatusReader;
  readonly importDir: string;
  /** Null until the database has answered and its schema is up to date. */
  readonly connected: () => Connected | null;
  /** The role of people and API tokens in the database; null where there is none. */
  readonly wallRole: () => WallRole | null;
  readonly databaseProblem: () => string | null;
  readonly liveSpools: () => readonly string[];
  readonly isStopping: () => boolean;
  readonly ledger: LedgerDep;
  readonly readSpoolStatus: () => Promise<SpoolStatus | null>;
  readonly listNodes: () => Promise<readonly StoredNode[] | null>;
  /** Calls `onConnected` once, when the database can be used. */
  readonly begin: (onConnected: () => void) => void;
  readonly receive: (message: DownMessage) => void;
  /** Waits for `others`, then stores the spool within `drainMs`. */
  readonly close: (drainMs: number, others: Promise<void>) => Promise<void>;
}

export function openOwnNode(
  { config, ...start }: ControlStart,
  channel: ChildChannel,
  prices: CurrentPriceBook,
  log: Logger,
): OwnNode {
  // The shipper looks there before the first proxy makes its folder.
  mkdirSync(start.spoolDir, { recursive: true, mode: 0o700 });
  const pools = openControlPools(start.databaseUrl, config.role, log);
  const clock = createNodeClock({ onReading: (reading) => channel.send({ type: 'clock', reading }) });
  const id = readNodeId(config.dataDir, log);
  const importDir = join(config.dataDir, IMPORT_NAME);
  const quarantineDir = join(config.dataDir, 'quarantine');
  const status: StatusReader = createStatusReader(channel.send);
  const memory = createProxyMemory(Date.now());
  const ledgerFile = openLedgerFile(join(config.dataDir, 'call-accounts.json'));
  const counter = createWaitingCounter();
  const budgets = openNodeBudgets({
    file: join(config.dataDir, LEDGER_NAME),
    id,
    node: config.node,
    hasProxies: config.role !== 'control',
    listProcesses: () => liveSpools,
    pool: pools.api,
    nowMs: clock.nowMs,
  });
  const parts: NodeParts = {
    start: { config, ...start },
    channel,
    log,
    id,
    clock,
    pools,
    prices,
    budgets,
    quarantineDir,
    keepsTexts,
  };
  let isSpoolReady = false;
  let connected: Connected | null = null;
  /** What the database said before this node had settled it. */
  let searchOfAll: string = config.search;
  let connecting: RepeatedMigration | null = null;
  let liveSpools = start.liveSpools;
  let isStopping = false;
  let wallRole: WallRole | null = null;

  async function readSnapshot(): Promise<LedgerSnapshot | null> {
    try {
      return await readLedger({
        spoolDir: start.spoolDir,
        ended: ledgerFile,
        memory,
        counter,
        readSupervisorStatus: status.read,
        listLiveSpools: () => liveSpools,
      });
    } catch (error) {
      log.warn({ err: error }, 'the ledger of calls cannot be read');
      return null;
    }
  }

  async function readLoad(): Promise<NodeLoad> {
    const [reading, processes] = await Promise.all([
      readSnapshot(),
      listProcessDirectories(start.spoolDir).catch(() => null),
    ]);
    return {
      recordsWaiting: reading?.spooled ?? null,
      openCalls: reading?.inFlight ?? null,
      processes: processes === null ? null : [...new Set([...processes, ...liveSpools])],
    };
  }

  function keepsTexts(): boolean {
    return config.search === 'on' && (connected?.presence.shared()?.search.value ?? searchOfAll) === 'on';
  }

  /** Without it the first wall stands alone. */
  async function raiseWall(): Promise<WallRole | null> {
    const result = await raiseAccountWall(pools.shipper);
    if (result.kind === 'up') return result;
    if (result.kind === 'busy') throw new Error('the wall between accounts waits for tables that others use');
    log.warn(
      { role: result.role },
      'the user of the database may not create roles: row-level security does not stand between accounts; docs/accounts.md says what an administrator does about it',
    );
    return null;
  }

  async function onMigrated(): Promise<void> {
    if (!isSpoolReady)
      for (const name of await finishReceived(importDir, start.spoolDir))
        log.info({ process: name }, 'the spool of another node was taken in');
    isSpoolReady = true;
    // Runs before the first key is published, so that a wrong clock dates no call.
    await clock.compare(pools.shipper);
    const shared = await readSharedSettings(pools.shipper);
    searchOfAll = shared?.search.value ?? config.search;
    if (config.role !== 'proxy') wallRole = await raiseWall();
    connected = connectNode({
      ...parts,
      readLoad,
      onEnded: async (ended) => {
        await ledgerFile.takeIn(ended, countEnded(memory.lastOf(ended.name)));
        await budgets.takeInProcess(ended.name);
      },
    });
    connected.shipper.setLiveSpools(liveSpools);
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
  const preparing = config.role === 'control' ? [] : [repeatPreparing(join(config.dataDir, PREPARED_NAME), log)];

  return {
    ...parts,
    status,
    importDir,
    connected: () => connected,
    wallRole: () => wallRole,
    databaseProblem: () => connecting?.problem() ?? null,
    liveSpools: () => liveSpools,
    isStopping: () => isStopping,
    ledger: {
      read: readSnapshot,
      listQuarantine: () => listQuarantine(quarantineDir),
      countOfProxies: memory.counts,
      readShipper: () => connected?.shipper.stats() ?? null,
    },
    readSpoolStatus: async () => {
      try {
        const { bytes, isDiskLow } = await measureDisk(start.spoolDir);
        return { bytes, limitBytes: defaultMaxBytes(start.spoolDir), isDiskLow };
      } catch {
        return null;
      }
    },
    listNodes: async () => {
      try {
        return connected === null ? null : await listNodes(pools.api);
      } catch {
        return null;
      }
    },
    begin: (onConnected) => {
      connecting = repeatMigration({
        pool: pools.shipper,
        connectionString: start.databaseUrl,
        role: config.role,
        log,
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
      const repeated = [connecting, watching, ...preparing, ...(connected?.repeated ?? [])];
      await Promise.all([others, ...repeated.map((one) => one?.stop())]);
      await endShipping(connected?.shipper ?? null, drainMs, log);
      await connected?.presence.stop();
      budgets.close();
      pools.end();
    },
  };
}

/** Stores what waits, within the time left. */
async function endShipping(shipper: Shipper | null, drainMs: number, log: Logger): Promise<void> {
  if (shipper === null) {
    log.warn('stopped; the database was never reached, all records wait in the spool for the next start');
    return;
  }
  const isDrained = await shipper.drain(drainMs);
  const { waitingFor, directories } = shipper.stats();
  await shipper.stop();
  if (isDrained) log.info('stopped; every record is in the database');
  else log.warn({ waitingFor, directories }, 'stopped; the rest of the records wait in the spool for the next start');
}
