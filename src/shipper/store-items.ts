/**
 * Stores a batch whatever is in it: when the database refuses the data, the batch is halved down to the one bad item;
 * that is tried in its safe form, then in its bare form, and then refused, and everything else goes through. Other
 * failures are thrown: the whole batch is tried again later, which makes no row twice. So what is refused is put aside
 * only when the batch is through: at the next try the database may take it. A refusal by a trigger that raises counts
 * as one of the data only when others are taken, and after a while (`raised-items.ts`).
 */
import type { SpoolLog } from '../spool/spool-log.ts';
import { bareCall, bareOpen, plainOpen } from './bare-row.ts';
import { type BatchItem, idOfItem } from './batch-item.ts';
import { cleanReason } from './clean-reason.ts';
import { describeFailure, judgeFailure, readPlace } from './database-error.ts';
import type { IngestSession } from './ingest-session.ts';
import { listLesserForms } from './lesser-rows.ts';
import { quarantineRecord } from './quarantine.ts';
import type { RaisedItems } from './raised-items.ts';
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
  /** Null: a trigger that raises is a failure like that of a connection. */
  readonly raised: RaisedItems | null;
  /** Of the prices that the items were priced with; null when that does not matter. */
  readonly pricesVersion: number | null;
}

export interface RefusedItem {
  readonly item: BatchItem;
  readonly reason: string;
}

interface RaisedItem {
  readonly item: BatchItem;
  readonly error: unknown;
}

/** Returns the items that the database takes in no form. */
export async function storeItems(items: readonly BatchItem[], context: StoreContext): Promise<readonly RefusedItem[]> {
  const raised: RaisedItem[] = [];
  const refused = await storeHalves(items, context, raised);
  return raised.length === 0 ? refused : [...refused, ...(await settleRaised(raised, context))];
}

/** What a trigger has refused goes into `raised`, when all else has been tried. */
async function storeHalves(
  items: readonly BatchItem[],
  context: StoreContext,
  raised: RaisedItem[],
): Promise<readonly RefusedItem[]> {
  const error = await tryStore(items, context);
  if (error === null) return [];
  const [only] = items;
  if (only === undefined) throw error;
  if (items.length > 1) {
    const middle = Math.ceil(items.length / 2);
    const first = await storeHalves(items.slice(0, middle), context, raised);
    return [...first, ...(await storeHalves(items.slice(middle), context, raised))];
  }
  if (judgeFailure(error) !== 'raised') return storeBadItem(only, error, context);
  raised.push({ item: only, error });
  return [];
}

/** Throws as long as it may be the moment: then all of the batch is tried again. */
async function settleRaised(raised: readonly RaisedItem[], context: StoreContext): Promise<readonly RefusedItem[]> {
  // Each of them is asked, since each begins to wait when it is asked for the first time.
  const [unsettled] = raised.filter(({ item, error }) => context.raised?.isSettled(item, readPlace(error)) !== true);
  if (unsettled !== undefined) throw unsettled.error;
  const refused: RefusedItem[] = [];
  for (const { item, error } of raised) refused.push(...(await storeBadItem(item, error, context)));
  return refused;
}

/** Null when stored; the error when the data are refused; everything else is thrown. */
async function tryStore(items: readonly BatchItem[], context: StoreContext): Promise<unknown> {
  try {
    context.counts.rows += await ingestWithPartitions(items, context);
    context.raised?.noteTaken(items);
    return null;
  } catch (error) {
    const failure = judgeFailure(error);
    if (failure === 'data' || (failure === 'raised' && context.raised !== null)) return error;
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
    const safe = sanitiseCall(item);
    yield safe;
    yield* listLesserForms(safe);
    const bare = bareCall(item);
    if (bare !== null) yield bare;
  } else if (item.kind === 'open') {
    yield plainOpen(item);
    const bare = bareOpen(item);
    if (bare !== null) yield bare;
  }
}

/** Bodies do not belong into a file that is made for reading. */
function withoutBytes(item: BatchItem): unknown {
  return item.kind === 'call' ? item.row : item;
}
