/**
 * Ships the spool to the database on one connection while the control process lives. It waits for a database that is
 * away. Records stay in the spool until committed, so no state here needs to survive.
 */
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { FOREIGN_QUIET_MS, watchForeignDirectories } from '../../spool/foreign-directories.ts';
import { listProcessDirectories, releaseEmergencySegment } from '../../spool/process-directories.ts';
import type { SpoolLog } from '../../spool/spool-log.ts';
import { readDatabaseTime } from '../store/database-clock.ts';
import { describeDatabaseError, judgeFailure } from '../store/database-error.ts';
import { touchKeys } from '../store/gateway-keys.ts';
import { daysAhead, ensurePartitions } from '../store/partitions.ts';
import { inTransaction } from '../store/pool.ts';
import { BatchTimeoutError, createBatchPace } from './batch-pace.ts';
import { type IngestSession, openIngestSession, type TextOptions } from './ingest-session.ts';
import {
  type DirectoryShipper,
  type EndedDirectory,
  openDirectoryShipper,
  type ShipContext,
  type ShipCounts,
  type Shipped,
  type ShippingPrices,
  SpoolFileError,
} from './ship-directory.ts';
import { TriggerRefusals } from './trigger-refusals.ts';

const POLL_INTERVAL_MS = 200;
const MIN_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
const DEAD_AFTER_MS = 2_000;
const KEY_USE_INTERVAL_MS = 10_000;
const PARTITION_INTERVAL_MS = 3_600_000;
const PARTITION_DAYS_AHEAD = 7;
/** For the batch under way, and again after its connection was closed. */
const STOP_LIMIT_MS = 500;

export interface ShipperOptions {
  readonly pool: pg.Pool;
  readonly spoolDir: string;
  readonly quarantineDir?: string;
  readonly prices: ShippingPrices;
  readonly log: SpoolLog;
  /** Whether the texts of bodies are kept for search, asked for each batch; they are by default. */
  readonly keepsTexts?: () => boolean;
  /** This node's corrected clock; the machine's by default. */
  readonly nowMs?: () => number;
  readonly deadAfterMs?: number;
  readonly foreignQuietMs?: number;
  readonly batchTimeoutMs?: number | undefined;
  readonly onEnded?: (ended: EndedDirectory) => Promise<void>;
}

export interface ShipperStats extends Readonly<ShipCounts> {
  /** Why the database cannot be used now; null when it works. */
  readonly waitingFor: string | null;
  readonly drainedAtMs: number | null;
  readonly directories: number;
  readonly brokenDirectories: number;
  readonly failures: number;
}

export interface Shipper {
  /** Names the directories whose process lives. Until the first call all count as live. */
  setLiveSpools(names: readonly string[]): void;
  /** These directories are complete and need not be watched first. */
  adopt(names: readonly string[]): void;
  stats(): ShipperStats;
  /** Resolves to true when all that is in the spool now is stored, false after `deadlineMs`. */
  drain(deadlineMs: number): Promise<boolean>;
  /** Ends after the current batch, within a second. */
  stop(): Promise<void>;
}

interface DrainWaiter {
  readonly sinceMs: number;
  readonly wake: () => void;
}

interface Round {
  /** More may be left, and can be stored at once. */
  readonly isMore: boolean;
  /** As in `Shipped`, of all directories. */
  readonly storedToMs: number;
}

export function startShipper(options: ShipperOptions): Shipper {
  const { pool, spoolDir, prices, log } = options;
  const nowMs = options.nowMs ?? Date.now;
  const deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
  const counts: ShipCounts = {
    rows: 0,
    sanitised: 0,
    quarantined: 0,
    interrupted: 0,
    corruptBytes: 0,
    batches: 0,
    unreadTexts: 0,
  };
  const context: ShipContext = {
    spoolDir,
    quarantineDir: options.quarantineDir ?? join(dirname(spoolDir), 'quarantine'),
    prices,
    log,
    nowMs,
    counts,
    triggers: new TriggerRefusals(),
    pace: createBatchPace(options.batchTimeoutMs),
    keyUses: new Map(),
    onEnded: options.onEnded ?? (() => Promise.resolve()),
  };
  const texts: TextOptions = {
    areKept: options.keepsTexts ?? (() => true),
    onFailed: (ids) => {
      counts.unreadTexts += ids.length;
      log.warn({ ids }, 'the texts of calls could not be read; nobody finds them by what was said');
    },
  };
  let live: ReadonlySet<string> | null = null;
  const foreign = watchForeignDirectories(
    spoolDir,
    options.foreignQuietMs ?? (options.deadAfterMs === undefined ? FOREIGN_QUIET_MS : options.deadAfterMs),
  );
  const missingSinceMs = new Map<string, number>();
  const released = new Set<string>();
  let directories = new Map<string, DirectoryShipper>();
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
  /** They wait for a round that begins after their request, and whose reads after it find nothing. */
  let drainWaiters: DrainWaiter[] = [];

  function isDead(name: string): boolean {
    if (live === null || live.has(name)) {
      missingSinceMs.delete(name);
      return false;
    }
    const sinceMs = missingSinceMs.get(name) ?? performance.now();
    missingSinceMs.set(name, sinceMs);
    return performance.now() - sinceMs >= deadAfterMs;
  }

  /** Visits every directory once, the oldest first. */
  async function shipRound(): Promise<Round> {
    const { settled: names, isHolding } = await foreign.look(await listProcessDirectories(spoolDir));
    await releaseEmergencySegments(names);
    session ??= await openIngestSession(pool, texts);
    // Declared prices count from the first batch.
    if (prices.version() === null) await prices.refresh(session.client);
    await makePartitionsAhead();
    let isMore = false;
    let storedToMs = isHolding ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    let refusal: unknown = null;
    for (const name of names) {
      if (isStopping) return { isMore: false, storedToMs: Number.NEGATIVE_INFINITY };
      const directory = directories.get(name) ?? (await openDirectoryShipper(name, context));
      directories.set(name, directory);
      const result = await shipOnce(name, directory, session).catch((error: unknown) => {
        // The other directories have their turn, and show whether only this record is at fault.
        if (judgeFailure(error) !== 'raised') throw error;
        refusal ??= error;
        return null;
      });
      storedToMs = Math.min(storedToMs, result?.storedToMs ?? Number.NEGATIVE_INFINITY);
      if (result === null) directories.delete(name);
      else if (result.state === 'more') isMore = true;
      else if (result.state === 'gone') {
        directories.delete(name);
        missingSinceMs.delete(name);
        released.delete(name);
      }
    }
    if (refusal !== null) throw refusal;
    await writeKeyUses(session);
    return { isMore, storedToMs };
  }

  /** Runs before the database is asked: a full disk needs the room while that is away. */
  async function releaseEmergencySegments(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (released.has(name) || !isDead(name)) continue;
      released.add(name);
      await releaseEmergencySegment(join(spoolDir, name)).catch((error: unknown) =>
        log.warn({ err: error, process: name }, 'the emergency segment of a dead process could not be removed'),
      );
    }
  }

  /** Null for files that fail: they do not hold up other directories; this one is tried again from its cursor. */
  async function shipOnce(name: string, directory: DirectoryShipper, session: IngestSession): Promise<Shipped | null> {
    try {
      const result = await directory.ship(session, isDead(name));
      broken.delete(name);
      return result;
    } catch (error) {
      if (!(error instanceof SpoolFileError)) throw error;
      if (!broken.has(name)) log.error({ err: error }, 'a spool directory cannot be read or cleared');
      broken.add(name);
      return null;
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
      const { isMore, storedToMs } = await shipRound();
      if (waitingFor !== null)
        log.warn({ waitedFor: waitingFor }, 'the database is back; records are being stored again');
      waitingFor = null;
      backoffMs = 0;
      if (isMore || isStopping || storedToMs === Number.NEGATIVE_INFINITY) return isMore;
      drainedAtMs = nowMs();
      const drained = waiters.filter(({ sinceMs }) => sinceMs < storedToMs);
      drainWaiters = drainWaiters.filter((waiter) => !drained.includes(waiter));
      for (const waiter of drained) waiter.wake();
      // A batch that was read ahead of a request says nothing about it; the next read does.
      return drained.length < waiters.length;
    } catch (error) {
      failures += 1;
      const reason = describeDatabaseError(error);
      if (reason !== waitingFor) log.warn({ reason }, 'records cannot be stored now; they wait in the spool');
      waitingFor = reason;
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
    // The random delay keeps nodes from coming back at one moment.
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
        const waiter: DrainWaiter = {
          sinceMs: performance.now(),
          wake: () => {
            clearTimeout(timer);
            resolve(true);
          },
        };
        const timer = setTimeout(() => {
          drainWaiters = drainWaiters.filter((one) => one !== waiter);
          resolve(false);
        }, deadlineMs);
        drainWaiters = [...drainWaiters, waiter];
        wake();
      });
    },
    async stop() {
      isStopping = true;
      wake();
      const limit = () => sleep(STOP_LIMIT_MS, 'late' as const, { ref: false });
      if ((await Promise.race([running, limit()])) !== 'late') return;
      // The cursor has not moved past the batch, so the next start stores it.
      session?.close();
      await Promise.race([running, limit()]);
    },
  };
}
