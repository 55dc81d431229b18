/**
 * Stores a batch whatever is in it: when the database refuses the data, the batch is halved down to the one bad item;
 * that is tried in its safe form, then in its bare form, and then refused, and everything else goes through. Other
 * failures are thrown: the whole batch is tried again later, which makes no row twice. So what is refused is put aside
 * only when the batch is through: at the next try the database may take it.
 */
import type { SpoolLog } from '../spool/spool-log.ts';
import { bareCall, bareOpen } from './bare-row.ts';
import { type BatchItem, idOfItem } from './batch-item.ts';
import { cleanReason } from './clean-reason.ts';
import { describeFailure, judgeFailure } from './database-error.ts';
import type { IngestSession } from './ingest-session.ts';
import { quarantineRecord } from './quarantine.ts';
import { sanitiseCall } from './sanitise-row.ts';

export interface StoreCounts {
  rows: number;
  sanitised: number;
  quarantined: number;
}

export interface StoreContext {
  readonly session: IngestSession;
  readonly log: SpoolLog;
  readonly counts: StoreCounts;
  /** Of the prices that the items were priced with; null when that does not matter. */
  readonly pricesVersion: number | null;
}

export interface RefusedItem {
  readonly item: BatchItem;
  readonly reason: string;
}

/** Returns the items that the database takes in no form. */
export async function storeItems(items: readonly BatchItem[], context: StoreContext): Promise<readonly RefusedItem[]> {
  const error = await tryStore(items, context);
  if (error === null) return [];
  const [only] = items;
  if (only === undefined) throw error;
  if (items.length === 1) return storeBadItem(only, error, context);
  const middle = Math.ceil(items.length / 2);
  const first = await storeItems(items.slice(0, middle), context);
  return [...first, ...(await storeItems(items.slice(middle), context))];
}

/** Null when stored; the error when the data are refused; everything else is thrown. */
async function tryStore(items: readonly BatchItem[], context: StoreContext): Promise<unknown> {
  try {
    context.counts.rows += await ingestWithPartitions(items, context);
    return null;
  } catch (error) {
    if (judgeFailure(error) === 'data') return error;
    throw error;
  }
}

async function ingestWithPartitions(
  items: readonly BatchItem[],
  { session, pricesVersion }: StoreContext,
): Promise<number> {
  try {
    return await session.ingest(items, pricesVersion);
  } catch (error) {
    if (judgeFailure(error) !== 'no_partition') throw error;
    session.forgetPartitions();
    return session.ingest(items, pricesVersion);
  }
}

async function storeBadItem(item: BatchItem, error: unknown, context: StoreContext): Promise<readonly RefusedItem[]> {
  const { log, counts } = context;
  const reason = cleanReason(describeFailure(error));
  for (const form of listSafeForms(item)) {
    if ((await tryStore([form], context)) !== null) continue;
    counts.sanitised += 1;
    log.warn({ id: idOfItem(item), reason }, 'a record was refused by the database and stored in a safe form');
    return [];
  }
  return [{ item, reason }];
}

/** For the end of a batch. Returns the items. */
export async function putAside(
  refused: readonly RefusedItem[],
  { quarantineDir, log, counts }: { quarantineDir: string; log: SpoolLog; counts: StoreCounts },
): Promise<readonly BatchItem[]> {
  for (const { item, reason } of refused) {
    const id = idOfItem(item);
    const kept = await quarantineRecord(quarantineDir, { id, reason, record: withoutBytes(item) });
    counts.quarantined += 1;
    log.error({ id, reason, kept }, 'a record was refused by the database and put aside');
  }
  return refused.map(({ item }) => item);
}

function* listSafeForms(item: BatchItem): Generator<BatchItem> {
  if (item.kind === 'call') {
    yield sanitiseCall(item);
    const bare = bareCall(item);
    if (bare !== null) yield bare;
  } else if (item.kind === 'open') {
    const bare = bareOpen(item);
    if (bare !== null) yield bare;
  }
}

/** Bodies do not belong into a file that is made for reading. */
function withoutBytes(item: BatchItem): unknown {
  return item.kind === 'call' ? item.row : item;
}
