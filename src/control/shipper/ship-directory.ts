/** Ships one process directory in batches, closes a dead process's open calls and removes the stored directory. */
import { join } from 'node:path';
import type pg from 'pg';
import type { PriceCallOf } from '../../pricing/billable-call.ts';
import type { CallTally } from '../../spool/call-tally.ts';
import { readCursorFile, type SpoolPosition } from '../../spool/cursor.ts';
import type { Losses } from '../../spool/losses.ts';
import { readLosses } from '../../spool/losses-file.ts';
import {
  advanceCursor,
  clearSegments,
  quarantineSegment,
  removeProcessDirectory,
} from '../../spool/process-directories.ts';
import type { SpoolLog } from '../../spool/spool-log.ts';
import { openSpoolReader, type SpoolBatch, type SpoolReader } from '../../spool/spool-reader.ts';
import type { CallBegin, CallCheckpoint } from '../../vocabulary/call-record.ts';
import { describeDatabaseError } from '../store/database-error.ts';
import { idOfItem } from './batch-item.ts';
import type { BatchPace } from './batch-pace.ts';
import { type Batch, buildBatch, makeInterruptedItem } from './build-batch.ts';
import { cleanReason } from './clean-reason.ts';
import { type IngestSession, StalePricesError } from './ingest-session.ts';
import { FORGET_CLOSED, READ_OPEN_OF_PROCESS, READ_OPEN_ORDINALS } from './ingest-statements.ts';
import { placeByToolCalls } from './place-by-tool-calls.ts';
import { quarantineRecord, releaseRecords } from './quarantine.ts';
import { settleBatch } from './settle-batch.ts';
import { putAside, type RefusedItem, type StoreCounts } from './store-items.ts';
import { storePaced } from './store-paced.ts';
import { tallyBatch } from './tally-batch.ts';
import type { TriggerRefusals } from './trigger-refusals.ts';

/** After this many overtaken batches, changes of prices wait. */
const MAX_OVERTAKEN = 3;

export interface ShipCounts extends StoreCounts {
  interrupted: number;
  corruptBytes: number;
  batches: number;
  /** Calls stored without their texts, which could not be read. */
  unreadTexts: number;
}

/** A process directory that is stored completely. */
export interface EndedDirectory {
  readonly name: string;
  readonly tally: CallTally;
  readonly losses: Losses;
}

export interface ShippingPrices {
  readonly priceCall: PriceCallOf;
  /** Null when they never change. */
  readonly version: () => number | null;
  /** Reads them from the database. */
  readonly refresh: (client: pg.ClientBase) => Promise<unknown>;
}

export interface ShipContext {
  readonly spoolDir: string;
  readonly quarantineDir: string;
  readonly prices: ShippingPrices;
  readonly log: SpoolLog;
  readonly nowMs: () => number;
  readonly counts: ShipCounts;
  readonly triggers: TriggerRefusals;
  /** Outlives the shippers and serves all directories. */
  readonly pace: BatchPace;
  /** Latest use of each key in stored records; the reader of it empties it. */
  readonly keyUses: Map<number, number>;
  /** Called before a directory is removed, again after a failure; its counts are gone afterwards. */
  readonly onEnded: (ended: EndedDirectory) => Promise<void>;
}

export class SpoolFileError extends Error {
  constructor(processName: string, options: ErrorOptions) {
    super(`the spool directory ${processName} cannot be used`, options);
    this.name = 'SpoolFileError';
  }
}

export interface Shipped {
  /** `drained` may change later; `gone` is final. */
  readonly state: 'more' | 'drained' | 'gone';
  /** All that was written before this moment (`performance.now()`) is stored; -Infinity when that is not known. */
  readonly storedToMs: number;
}

export interface DirectoryShipper {
  /** Ships one batch. Throws a SpoolFileError or the database's error. */
  ship(session: IngestSession, isDead: boolean): Promise<Shipped>;
}

interface PricedBatch extends Batch {
  readonly pricesVersion: number | null;
}

interface PreparedBatch {
  readonly batch: SpoolBatch;
  readonly built: PricedBatch;
  /** Whether the writer was known to be dead, so that a drained directory stays drained. */
  readonly asDead: boolean;
  /** When the read began; records that are written later may be missing in it. */
  readonly readAtMs: number;
}

/** Starts at the durable cursor. After a failure make a new one, which reads the unstored records again. */
export async function openDirectoryShipper(processName: string, context: ShipContext): Promise<DirectoryShipper> {
  const { spoolDir, quarantineDir, prices, log, nowMs, counts, triggers, pace, keyUses, onEnded } = context;
  const dir = join(spoolDir, processName);
  const onFiles = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (cause) {
      throw new SpoolFileError(processName, { cause });
    }
  };
  const { position, tally, isSuspect } = await readCursorFile(dir);
  let cursor: SpoolPosition = position;
  let isFirstUnknown = isSuspect;
  const reader: SpoolReader = openSpoolReader(dir, cursor);
  let ahead: Promise<PreparedBatch> | null = null;

  async function prepare(asDead: boolean): Promise<PreparedBatch> {
    const readAtMs = performance.now();
    const read = await onFiles(reader.read(pace.limits(), asDead));
    const batch = { ...read, entries: await placeByToolCalls(read.entries) };
    return { batch, asDead, readAtMs, built: priceBatch(batch) };
  }

  function priceBatch(batch: SpoolBatch): PricedBatch {
    const entries = batch.entries.map(({ entry }) => entry);
    const { priceCall } = prices;
    const built = buildBatch(entries, { process: processName, priceCall, nowMs: nowMs() });
    return { ...built, pricesVersion: prices.version() };
  }

  /** Repeats `store` until the prices stay the same meanwhile. */
  async function withLatestPrices(session: IngestSession, store: (isFirst: boolean) => Promise<void>): Promise<void> {
    for (let overtaken = 0; overtaken < MAX_OVERTAKEN; overtaken += 1) {
      try {
        return await store(overtaken === 0);
      } catch (error) {
        if (!(error instanceof StalePricesError)) throw error;
        await prices.refresh(session.client);
      }
    }
    await session.holdPrices(async () => {
      await prices.refresh(session.client);
      await store(false);
    });
  }

  async function putSegmentAside(segment: number, bytes: number): Promise<void> {
    counts.corruptBytes += bytes;
    const kept = await quarantineSegment(spoolDir, processName, segment, quarantineDir);
    log.error(
      { process: processName, segment, bytes, kept },
      'a spool segment is damaged; what can be read of it is kept',
    );
  }

  function noteUse(keyId: number, usedAtMs: number): void {
    keyUses.set(keyId, Math.max(usedAtMs, keyUses.get(keyId) ?? 0));
  }

  async function storeInterrupted(session: IngestSession): Promise<void> {
    for (;;) {
      const { rows } = await session.client.query<{ begin: CallBegin; checkpoint: CallCheckpoint | null }>(
        READ_OPEN_OF_PROCESS,
        [processName, pace.limits().maxEnds],
      );
      if (rows.length === 0) return;
      const before = counts.rows;
      let refused: readonly RefusedItem[] = [];
      await withLatestPrices(session, async () => {
        const pricing = { process: processName, priceCall: prices.priceCall, nowMs: nowMs() };
        const pricesVersion = prices.version();
        const items = rows.map((row) => makeInterruptedItem(row.begin, row.checkpoint, pricing));
        refused = await storePaced(items, 0, pace, { session, log, counts, triggers, pricesVersion });
        await settleBatch(session.client, items, log);
      });
      const asideIds = new Set((await onFiles(putAside(refused, { quarantineDir, log, counts }))).map(idOfItem));
      for (const { begin } of rows)
        if (asideIds.has(begin.id)) tally.putAside({ ordinal: begin.ordinal, outcome: 'interrupted' });
      await onFiles(
        releaseRecords(
          quarantineDir,
          rows.map(({ begin }) => begin.id).filter((id) => !asideIds.has(id)),
        ),
      );
      counts.interrupted += counts.rows - before;
      // A refused row must not stay open, or this would never end.
      await session.client.query('delete from llm_open_calls where id = any($1::uuid[])', [
        rows.map((row) => row.begin.id),
      ]);
    }
  }

  /** Closes what is open, then the account, then the directory. Each step may be repeated. */
  async function end(session: IngestSession, after: SpoolPosition): Promise<void> {
    const { rows } = await session.client.query<{ ordinal: number }>(READ_OPEN_ORDINALS, [processName]);
    tally.interrupt(rows.map(({ ordinal }) => ordinal));
    await onFiles(clearSegments(dir, after, tally));
    await storeInterrupted(session);
    tally.endInterrupting();
    await onFiles(readLosses(dir).then((losses) => onEnded({ name: processName, tally, losses })));
    await session.client.query(FORGET_CLOSED, [processName]);
    await onFiles(removeProcessDirectory(dir));
  }

  return {
    async ship(session, isDead) {
      const { batch, built, asDead, readAtMs } = await (ahead ?? prepare(isDead));
      // The next batch is read and shaped while the database stores this one.
      ahead = batch.isDrained ? null : prepare(isDead);
      // Its consumer handles the failure; until then it must not count as unhandled.
      ahead?.catch(() => {});
      for (const { segment, bytes } of batch.corrupt) await onFiles(putSegmentAside(segment, bytes));
      let { failed } = built;
      let refused: readonly RefusedItem[] = [];
      await withLatestPrices(session, async (isFirst) => {
        const { items, pricesVersion, ...priced } = isFirst ? built : priceBatch(batch);
        failed = priced.failed;
        if (items.length === 0) return;
        const bytes = batch.entries.reduce((sum, entry) => sum + entry.bytes, 0);
        refused = await storePaced(items, bytes, pace, { session, log, counts, triggers, pricesVersion });
        counts.batches += 1;
      });
      await settleBatch(session.client, built.items, log);
      // Only the prices that counted decide whether a row could be made.
      for (const { begin, end, error } of failed) {
        counts.quarantined += 1;
        const reason = cleanReason(describeDatabaseError(error));
        await onFiles(quarantineRecord(quarantineDir, { id: begin.id, reason, record: { begin, end } }));
        log.error({ id: begin.id, reason }, 'no row could be made of a record; it was put aside');
      }
      for (const item of built.items)
        if (item.kind === 'call') noteUse(item.row.key_id, item.row.requested_at.getTime());
      const entries = batch.entries.map(({ entry }) => entry);
      const aside = await onFiles(putAside(refused, { quarantineDir, log, counts }));
      const asideCalls = aside.filter(({ kind }) => kind !== 'checkpoint');
      const asideIds = new Set([...asideCalls.map(idOfItem), ...failed.map(({ begin }) => begin.id)]);
      const ended = entries.flatMap((entry) => (entry.type === 'end' ? [entry.begin.id] : []));
      await onFiles(
        releaseRecords(
          quarantineDir,
          ended.filter((id) => !asideIds.has(id)),
        ),
      );
      isFirstUnknown = tallyBatch(tally, entries, asideIds, isFirstUnknown);
      if (batch.isDrained && asDead) {
        await end(session, batch.after);
        return { state: 'gone', storedToMs: Number.POSITIVE_INFINITY };
      }
      if (batch.after.segment !== cursor.segment || batch.after.offset !== cursor.offset) {
        await onFiles(advanceCursor(dir, batch.after, tally));
        cursor = batch.after;
      }
      if (!batch.isDrained) return { state: 'more', storedToMs: Number.NEGATIVE_INFINITY };
      return { state: 'drained', storedToMs: batch.isDoubtful ? Number.NEGATIVE_INFINITY : readAtMs };
    },
  };
}
