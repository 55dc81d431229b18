/**
 * Records that code of the operator's refuses: a trigger that raises. That may mean the record, or the moment (nobody may
 * write now), and only patience tells: it is the record when others of its kind are taken for a while in which it is
 * refused. Where a trigger has refused one record for so long, the next ones wait until others were taken twice: one that
 * refuses every tenth call would otherwise hold up each batch. In memory: a control process that starts anew begins to
 * wait anew.
 */
import { type BatchItem, idOfItem } from './batch-item.ts';

/** Longer than a deployment holds a table, and short enough that what waits behind does not fill the spool. */
const RAISED_PATIENCE_MS = 60_000;
/** More are not remembered; the oldest give way, and wait anew. */
const MAX_RAISED = 10_000;
/** A trigger that refuses many records is waited for once in this time. */
const KNOWN_MS = 600_000;
const MAX_KNOWN = 100;

interface Refusals {
  readonly sinceMs: number;
  /** When it was first seen that others have been taken since then. */
  othersMs: number | null;
}

export class RaisedItems {
  /** By kind and id: a call that is open has its ending later, under the same id. */
  readonly #refusals = new Map<string, Refusals>();
  /** A guard of one table says nothing about the other one. */
  readonly #takenMs = new Map<BatchItem['kind'], number>();
  /** Places in triggers that have refused a record for long, and when that was seen last. */
  readonly #knownMs = new Map<string, number>();
  readonly #patienceMs: number;

  constructor(patienceMs = RAISED_PATIENCE_MS) {
    this.#patienceMs = patienceMs;
  }

  /** What was taken after all waits anew when it is refused another time. */
  noteTaken(items: readonly BatchItem[]): void {
    for (const item of items) {
      this.#takenMs.set(item.kind, performance.now());
      if (this.#refusals.size > 0) this.#refusals.delete(keyOf(item));
    }
  }

  /** Of an item that is refused now, at this `place`. From the first time it is asked for, it waits. */
  isSettled(item: BatchItem, place: string): boolean {
    const key = keyOf(item);
    const refusals = this.#refusals.get(key);
    if (refusals !== undefined) {
      const takenMs = this.#takenMs.get(item.kind) ?? Number.NEGATIVE_INFINITY;
      if (takenMs < refusals.sinceMs) return false;
      // Not since the refusal: a trigger that refused everything may come to its end between this record and the next.
      refusals.othersMs ??= takenMs;
      const othersForMs = takenMs - refusals.othersMs;
      if (othersForMs < this.#patienceMs) return othersForMs > 0 && this.#isKnown(place);
      this.#noteKnown(place);
      return true;
    }
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size >= MAX_RAISED && oldest !== undefined) this.#refusals.delete(oldest);
    this.#refusals.set(key, { sinceMs: performance.now(), othersMs: null });
    return false;
  }

  #noteKnown(place: string): void {
    this.#knownMs.delete(place);
    const [oldest] = this.#knownMs.keys();
    if (this.#knownMs.size >= MAX_KNOWN && oldest !== undefined) this.#knownMs.delete(oldest);
    this.#knownMs.set(place, performance.now());
  }

  #isKnown(place: string): boolean {
    return performance.now() - (this.#knownMs.get(place) ?? Number.NEGATIVE_INFINITY) < KNOWN_MS;
  }
}

function keyOf(item: BatchItem): string {
  return `${item.kind} ${idOfItem(item)}`;
}
