/** Stores a batch in the time that its pace gives it, and tells the pace what came of it. */
import type { BatchItem } from './batch-item.ts';
import { type BatchPace, mayBeTooMuch } from './batch-pace.ts';
import { type RefusedItem, type StoreContext, storeItems } from './store-items.ts';

/** As `storeItems`. `bytes`: of the records that the items are made of. */
export async function storePaced(
  items: readonly BatchItem[],
  bytes: number,
  pace: BatchPace,
  context: StoreContext,
): Promise<readonly RefusedItem[]> {
  const ends = items.filter(({ kind }) => kind === 'call').length;
  const size = { records: items.length, ends, bytes };
  const startedMs = performance.now();
  context.session.allow(pace.timeoutMs());
  try {
    const refused = await storeItems(items, context);
    pace.noteStored(size, performance.now() - startedMs);
    return refused;
  } catch (error) {
    if (mayBeTooMuch(error)) pace.noteFailed(size);
    throw error;
  }
}
