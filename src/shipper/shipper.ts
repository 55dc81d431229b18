/**
 * The way from the spool to the database. It runs in the control process, on one connection, for as long as that lives:
 * the database may be away for hours, it waits and goes on by itself. What is in the spool stays there until its
 * transaction has committed, so nothing here needs to survive.
 */
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FOREIGN_QUIET_MS, watchForeignDirectories } from '../spool/foreign-directories.ts';
import { listProcessDirectories, releaseReserve } from '../spool/process-directories.ts';
import type { SpoolLog } from '../spool/spool-log.ts';
import { readDatabaseTime } from '../store/database-clock.ts';
import { touchKeys } from '../store/gateway-keys.ts';
import { daysAhead, ensurePartitions } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import { BatchTimeoutError, createBatchPace } from './batch-pace.ts';
import { describeFailure, judgeFailure } from './database-error.ts';
import { type IngestSession, openIngestSession } from './ingest-session.ts';
import { RaisedItems } from './raised-items.ts';
import {
  type DirectoryShipper,
  type EndedDirectory,
  openDirectoryShipper,
  type ShipContext,
  type ShipCounts,
  type ShippingPrices,
  SpoolFileError,
} from './ship-directory.ts';

const POLL_INTERVAL_MS = 200;
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** A directory counts as dead when it has been missing from the live list for this long. */
const DEAD_AFTER_MS = 2_000;
const KEY_USE_INTERVAL_MS = 10_000;
const PARTITION_INTERVAL_MS = 3_600_000;
const PARTITION_DAYS_AHEAD = 7;
/** For the batch under way, and as long again for its end once its connection was closed. */
const STOP_LIMIT_MS = 500;

export interface ShipperOptions {
  readonly pool: pg.Pool;
  /** `<data directory>/spool`, with one directory for each proxy process. */
  readonly spoolDir: string;
  /** Default: `quarantine` beside the spool. */
  readonly quarantineDir?: string;
  readonly prices: ShippingPrices;
  readonly log: SpoolLog;
  /** By this node's clock; the machine's by default. */
  readonly nowMs?: () => number;
  readonly deadAfterMs?: number;
  /** See `ForeignDirectories`. */
  readonly foreignQuietMs?: number;
  /** See `RaisedItems`. */
  readonly raisedPatienceMs?: number | undefined;
  /** See `createBatchPace`. */
  readonly batchTimeoutMs?: number | undefined;
  /** See `ShipContext`. */
  readonly onEnded?: (ended: EndedDirectory) => Promise<void>;
}

export interface ShipperStats extends Readonly<ShipCounts> {
  /** Why the database cannot be used now; null when it works. */
  readonly waitingFor: string | null;
  /** When everything in the spool had last been stored. */
  readonly drainedAtMs: number | null;
  /** Process directories that hold records or may get some. */
  readonly directories: number;
  /** Those whose files cannot be read or cleared now. */
  readonly brokenDirectories: number;
  /** How often the database could not be used. */
  readonly failures: number;
}

export interface Shipper {
  /** The directories whose writer lives. Until the first call every directory is taken for alive. */
  setLiveSpools(names: readonly string[]): void;
  /** These were put into the spool whole: they need not be watched first. */
  adopt(names: readonly string[]): void;
  stats(): ShipperStats;
  /** True when everything that is in the spool now is stored; false when that took longer than `deadlineMs`. */
  drain(deadlineMs: number): Promise<boolean>;
  /** Ends after the batch that is being stored; a database that hangs keeps it a second and no longer. */
  stop(): Promise<void>;
}

export function startShipper(options: ShipperOptions): Shipper {
  const { pool, spoolDir, prices, log } = options;
  const nowMs = options.nowMs ?? Date.now;
  const deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
  const counts: ShipCounts = { rows: 0, sanitised: 0, quarantined: 0, interrupted: 0, corruptBytes: 0, batches: 0 };
  const context: ShipContext = {
    spoolDir,
    quarantineDir: options.quarantineDir ?? join(dirname(spoolDir), 'quarantine'),
    prices,
    log,
    nowMs,
    counts,
    raised: new RaisedItems(options.raisedPatienceMs),
    pace: createBatchPace(options.batchTimeoutMs),
    keyUses: new Map(),
    onEnded: options.onEnded ?? (() => Promise.resolve()),
  };
  let live: ReadonlySet<string> | null = null;
  const foreign = watchForeignDirectories(
    spoolDir,
    options.foreignQuietMs ?? (options.deadAfterMs === undefined ? FOREIGN_QUIET_MS : options.deadAfterMs),
  );
  /** Since when a directory has been missing from the live list. */
  const missingSinceMs = new Map<string, number>();
  /** Dead directories whose reserve is gone. */
  const released = new Set<string>();
  let directories = new Map<string, DirectoryShipper>();
  /** Directories whose files failed at the last try. */
  const broken = new Set<string>();
  let keyUsesWrittenMs = Number.NEGATIVE_INFINITY;
  let partitionsMadeMs = Number.NEGATIVE_INFINITY;
  let session: IngestSession | null = null;
  let backoffMs = 0;
  let failures = 0;
  let waitingFor: string | null = null;
  let drainedAtMs: number | null = null;
  let isStopping = false;
  let wake = () => {};
  /** Who waits for a round that begins after they asked and finds nothing left. */
  let drainWaiters: (() => void)[] = [];

  function isDead(name: string): boolean {
    if (live === null || live.has(name)) {
      missingSinceMs.delete(name);
      return false;
    }
    const sinceMs = missingSinceMs.get(name) ?? performance.now();
    missingSinceMs.set(name, sinceMs);
    return performance.now() - sinceMs >= deadAfterMs;
  }

  /** Every directory once, the oldest first. True when something may be left to ship at once. */
  async function shipRound(): Promise<boolean> {
    const names = await foreign.settled(await listProcessDirectories(spoolDir));
    await releaseReserves(names);
    session ??= await openIngestSession(pool);
    // Before the first batch: what the operator declared counts from the start.
    if (prices.version() === null) await prices.refresh(session.client);
    await makePartitionsAhead();
    let isMore = false;
    let refusal: unknown = null;
    for (const name of names) {
      if (isStopping) return false;
      const directory = directories.get(name) ?? (await openDirectoryShipper(name, context));
      directories.set(name, directory);
      const result = await shipOnce(name, directory, session).catch((error: unknown) => {
        // It may be of one record: then the others show it, who have their turn all the same.
        if (judgeFailure(error) !== 'raised') throw error;
        refusal ??= error;
        return 'refused';
      });
      if (result === 'refused') directories.delete(name);
      if (result === 'more') isMore = true;
      if (result === 'gone') {
        directories.delete(name);
        missingSinceMs.delete(name);
        released.delete(name);
      }
    }
    if (refusal !== null) throw refusal;
    await writeKeyUses(session);
    return isMore;
  }

  /** Before the database is asked: the room that dead processes had put aside is wanted most while it is away. */
  async function releaseReserves(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (released.has(name) || !isDead(name)) continue;
      released.add(name);
      await releaseReserve(join(spoolDir, name)).catch((error: unknown) =>
        log.warn({ err: error, process: name }, 'the reserve of a dead process could not be removed'),
      );
    }
  }

  /** A directory whose files fail does not hold up the others; it is tried again from its cursor. */
  async function shipOnce(name: string, directory: DirectoryShipper, session: IngestSession) {
    try {
      const result = await directory.ship(session, isDead(name));
      broken.delete(name);
      return result;
    } catch (error) {
      if (!(error instanceof SpoolFileError)) throw error;
      if (!broken.has(name)) log.error({ err: error }, 'a spool directory cannot be read or cleared');
      broken.add(name);
      directories.delete(name);
      return 'broken';
    }
  }

  async function makePartitionsAhead(): Promise<void> {
    if (performance.now() - partitionsMadeMs < PARTITION_INTERVAL_MS) return;
    await inTransaction(pool, async (client) =>
      ensurePartitions(client, daysAhead(await readDatabaseTime(client), PARTITION_DAYS_AHEAD)),
    );
    partitionsMadeMs = performance.now();
  }

  async function writeKeyUses({ client }: IngestSession): Promise<void> {
    if (context.keyUses.size === 0 || performance.now() - keyUsesWrittenMs < KEY_USE_INTERVAL_MS) return;
    await touchKeys(client, context.keyUses);
    context.keyUses.clear();
    keyUsesWrittenMs = performance.now();
  }

  async function tryRound(): Promise<boolean> {
    const waiters = drainWaiters;
    try {
      const isMore = await shipRound();
      if (waitingFor !== null)
        log.warn({ waitedFor: waitingFor }, 'the database is back; records are being stored again');
      waitingFor = null;
      backoffMs = 0;
      if (isMore || isStopping) return isMore;
      drainedAtMs = nowMs();
      drainWaiters = drainWaiters.filter((waiter) => !waiters.includes(waiter));
      for (const waiter of waiters) waiter();
      return false;
    } catch (error) {
      failures += 1;
      const reason = describeFailure(error);
      if (reason !== waitingFor) log.warn({ reason }, 'records cannot be stored now; they wait in the spool');
      waitingFor = reason;
      // After a batch that was too large the next try is another one.
      if (error instanceof BatchTimeoutError) backoffMs = MIN_BACKOFF_MS;
      else backoffMs = Math.min(Math.max(MIN_BACKOFF_MS, backoffMs * 2), MAX_BACKOFF_MS);
      session?.close();
      session = null;
      directories = new Map();
      return false;
    }
  }

  function pause(): Promise<void> {
    const backoff = drainWaiters.length > 0 ? Math.min(backoffMs, MIN_BACKOFF_MS) : backoffMs;
    // Between a half and the whole of the back-off, so that several nodes do not come back at the same moment.
    const delayMs = backoff === 0 ? POLL_INTERVAL_MS : backoff * (0.5 + Math.random() / 2);
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, delayMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      const isMore = await tryRound();
      if (!isMore && !isStopping) await pause();
    }
    session?.close();
  }

  const running = run();

  return {
    setLiveSpools(names) {
      live = new Set(names);
      foreign.know(names);
    },
    adopt: foreign.know,
    stats() {
      const { size } = directories;
      return { ...counts, waitingFor, drainedAtMs, directories: size, brokenDirectories: broken.size, failures };
    },
    drain(deadlineMs) {
      return new Promise((resolve) => {
        const timer = setTimeout(() => {
          drainWaiters = drainWaiters.filter((waiter) => waiter !== drained);
          resolve(false);
        }, deadlineMs);
        const drained = () => {
          clearTimeout(timer);
          resolve(true);
        };
        drainWaiters = [...drainWaiters, drained];
        wake();
      });
    },
    async stop() {
      isStopping = true;
      wake();
      const limit = () => sleep(STOP_LIMIT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([running, limit()])) !== 'late') return;
      // What is in the batch has not been moved past, so the next start stores it.
      session?.close();
      await Promise.race([running, limit()]);
    },
  };
}
