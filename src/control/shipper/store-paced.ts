/** Stores a batch in the time that its pace allows, and reports the outcome to the pace. */
import type { BatchItem } from './batch-item.ts';
import { type BatchPace, mayBeTooMuch } from './batch-pace.ts';
import { type RefusedItem, type StoreContext, storeItems } from './store-items.ts';

/** Like `storeItems`. `bytes` is the size of the records behind the items. */
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
