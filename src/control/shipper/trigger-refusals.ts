/**
 * Items that an operator's trigger refuses by raising. The item is at fault when it is refused again after others of
 * its kind were stored; otherwise the moment may be. In memory only.
 */
import { type BatchItem, idOfItem } from './batch-item.ts';

/** Above it, the oldest are forgotten and wait again. */
const MAX_REFUSALS = 10_000;

export class TriggerRefusals {
  /** First refusals by kind and id: an open call has the id of its ending. */
  readonly #sinceMs = new Map<string, number>();
  /** By kind: one table's trigger says nothing about the other. */
  readonly #takenMs = new Map<BatchItem['kind'], number>();

  noteTaken(items: readonly BatchItem[]): void {
    for (const item of items) {
      this.#takenMs.set(item.kind, performance.now());
      this.#sinceMs.delete(keyOf(item));
    }
  }

  /** False at the first refusal, and until others were stored since. */
  isOfRecord(item: BatchItem): boolean {
    const key = keyOf(item);
    const sinceMs = this.#sinceMs.get(key);
    if (sinceMs !== undefined) return (this.#takenMs.get(item.kind) ?? 0) > sinceMs;
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size >= MAX_REFUSALS && oldest !== undefined) this.#sinceMs.delete(oldest);
    this.#sinceMs.set(key, performance.now());
    return false;
  }
}

function keyOf(item: BatchItem): string {
  return `${item.kind} ${idOfItem(item)}`;
}
