/**
 * Stores a batch. Refused data halve it down to the bad item, which is tried in its safe form and its minimal form.
 * Refused items are put aside when the rest is stored. Other failures are thrown, and the whole batch is tried again,
 * which makes no row twice. `trigger-refusals.ts` judges triggers that raise.
 */
import type { SpoolLog } from '../../spool/spool-log.ts';
import { describeDatabaseError, judgeFailure } from '../store/database-error.ts';
import { type BatchItem, idOfItem } from './batch-item.ts';
import { cleanReason } from './clean-reason.ts';
import type { IngestSession } from './ingest-session.ts';
import { listLesserForms } from './lesser-rows.ts';
import { minimalCall, minimalOpen, plainOpen } from './minimal-row.ts';
import { quarantineRecord } from './quarantine.ts';
import { sanitiseCall } from './sanitise-row.ts';
import type { TriggerRefusals } from './trigger-refusals.ts';

export interface StoreCounts {
  rows: number;
  sanitised: number;
  quarantined: number;
}

export interface StoreContext {
  readonly session: IngestSession;
  readonly log: SpoolLog;
  readonly counts: StoreCounts;
  /** Null treats a raising trigger like a broken connection. */
  readonly triggers: TriggerRefusals | null;
  /** The version that the items were priced with; null when it does not matter. */
  readonly pricesVersion: number | null;
}

export interface RefusedItem {
  readonly item: BatchItem;
  readonly reason: string;
}

/** Returns the items that the database takes in no form. */
export async function storeItems(items: readonly BatchItem[], context: StoreContext): Promise<readonly RefusedItem[]> {
  const raised: BatchItem[] = [];
  const refused = await storeHalves(items, context, raised);
  return [...refused, ...(await storeRaised(raised, context))];
}

async function storeHalves(
  items: readonly BatchItem[],
  context: StoreContext,
  raised: BatchItem[],
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
  raised.push(only);
  return [];
}

/** Throws while the moment may be at fault, so that the batch is tried again. */
async function storeRaised(raised: readonly BatchItem[], context: StoreContext): Promise<readonly RefusedItem[]> {
  const refused: RefusedItem[] = [];
  let mayBeMoment: unknown = null;
  for (const item of raised) {
    const error = await tryStore([item], context);
    if (error === null) continue;
    // The first question about an item begins its waiting, so each is asked.
    if (context.triggers?.isOfRecord(item) === true) refused.push(...(await storeBadItem(item, error, context)));
    else mayBeMoment ??= error;
  }
  if (mayBeMoment !== null) throw mayBeMoment;
  return refused;
}

/** Returns null when stored, the error when the data are refused; throws any other. */
async function tryStore(items: readonly BatchItem[], context: StoreContext): Promise<unknown> {
  try {
    context.counts.rows += await ingestWithPartitions(items, context);
    context.triggers?.noteTaken(items);
    return null;
  } catch (error) {
    const failure = judgeFailure(error);
    if (failure === 'data' || (failure === 'raised' && context.triggers !== null)) return error;
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
  const reason = cleanReason(describeDatabaseError(error));
  for (const form of listSafeForms(item)) {
    if ((await tryStore([form], context)) !== null) continue;
    counts.sanitised += 1;
    log.warn({ id: idOfItem(item), reason }, 'a record was refused by the database and stored in a safe form');
    return [];
  }
  return [{ item, reason }];
}

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
    const minimal = minimalCall(item);
    if (minimal !== null) yield minimal;
  } else if (item.kind === 'open') {
    yield plainOpen(item);
    const minimal = minimalOpen(item);
    if (minimal !== null) yield minimal;
  }
}

/** The file is made for reading, so it has no bodies. */
function withoutBytes(item: BatchItem): unknown {
  return item.kind === 'call' ? item.row : item;
}
