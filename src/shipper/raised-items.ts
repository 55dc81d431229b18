/**
 * Records that code of the operator's refuses: a trigger that raises. That may mean the record, or the moment (nobody may
 * write now), and only patience tells: it is the record when others of its kind are taken although it has been refused for
 * a while. In memory: a control process that starts anew begins to wait anew.
 */
import { type BatchItem, idOfItem } from './batch-item.ts';

/** Longer than a deployment holds a table, and short enough that what waits behind does not fill the spool. */
const RAISED_PATIENCE_MS = 60_000;
/** More are not remembered; the oldest give way, and wait anew. */
const MAX_RAISED = 10_000;

export class RaisedItems {
  readonly #sinceMs = new Map<string, number>();
  /** A guard of one table says nothing about the other one. */
  readonly #takenMs = new Map<BatchItem['kind'], number>();
  readonly #patienceMs: number;

  constructor(patienceMs = RAISED_PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  noteTaken(items: readonly BatchItem[]): void {
    for (const { kind } of items) this.#takenMs.set(kind, performance.now());
  }

  /** Of an item that is refused now. From the first time it is asked for, it waits. */
  isSettled(item: BatchItem): boolean {
    const id = idOfItem(item);
    const sinceMs = this.#sinceMs.get(id);
    if (sinceMs !== undefined) {
      const takenMs = this.#takenMs.get(item.kind);
      return takenMs !== undefined && takenMs - sinceMs >= this.#patienceMs;
    }
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size >= MAX_RAISED && oldest !== undefined) this.#sinceMs.delete(oldest);
    this.#sinceMs.set(id, performance.now());
    return false;
  }
}
