/** Spool records to batch items: prices endings, drops beginnings and checkpoints of ended calls. Pure. */

import type { PriceCallOf, PricedCall } from '../../pricing/billable-call.ts';
import { toBillableCall } from '../../pricing/to-billable-call.ts';
import type { CallBegin, CallBody, CallCheckpoint, CallEnd, SpoolEntry } from '../../vocabulary/call-record.ts';
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { encodeStoredRow } from '../store/copy-text.ts';
import type { BatchItem, CallItem } from './batch-item.ts';
import { interruptedEnd, type KnownEnd, makeRow } from './make-row.ts';

export interface FailedCall {
  readonly begin: CallBegin;
  readonly end: CallEnd;
  readonly error: unknown;
}

export interface Batch {
  readonly items: readonly BatchItem[];
  /** Endings whose malformed records make no row. */
  readonly failed: readonly FailedCall[];
}

export interface BatchContext {
  readonly process: string;
  readonly priceCall: PriceCallOf;
  readonly nowMs: number;
}

/** A call that ends twice in a batch counts once, with its last ending and bodies. */
export function buildBatch(entries: readonly SpoolEntry[], context: BatchContext): Batch {
  const begins = new Map<string, CallBegin>();
  const checkpoints = new Map<string, CallCheckpoint>();
  const bodies = new Map<string, CallBody[]>();
  const calls = new Map<string, CallItem>();
  const failed: FailedCall[] = [];
  for (const entry of entries) {
    switch (entry.type) {
      case 'begin':
        if (!calls.has(entry.begin.id)) begins.set(entry.begin.id, entry.begin);
        break;
      case 'checkpoint':
        if (!calls.has(entry.checkpoint.id)) checkpoints.set(entry.checkpoint.id, entry.checkpoint);
        break;
      case 'body':
        bodies.set(entry.body.id, [...(bodies.get(entry.body.id) ?? []), entry.body]);
        break;
      case 'end': {
        const { begin, end } = entry;
        try {
          const kept = bodies.get(begin.id) ?? calls.get(begin.id)?.bodies ?? [];
          calls.set(begin.id, makeCallItem(begin, end, kept, context));
          begins.delete(begin.id);
          checkpoints.delete(begin.id);
        } catch (error) {
          failed.push({ begin, end, error });
        }
        bodies.delete(begin.id);
        break;
      }
    }
  }
  const items: BatchItem[] = [...calls.values()];
  for (const begin of begins.values()) items.push({ kind: 'open', begin, process: context.process });
  for (const checkpoint of checkpoints.values()) items.push({ kind: 'checkpoint', checkpoint });
  return { items, failed };
}

function makeCallItem(begin: CallBegin, end: KnownEnd, bodies: readonly CallBody[], context: BatchContext): CallItem {
  const priced = context.priceCall(toBillableCall(begin, end), begin.accountId);
  const row = makeRow(begin, end, priced, context.nowMs);
  return {
    kind: 'call',
    ...encodeStoredRow(row),
    billedOnceAs: end.billedOnceAs ?? null,
    budgeted:
      begin.budgets === undefined ? null : { begin, process: context.process, cost: costInBudgets(end, priced) },
    bodies,
    requestHeaders: end.requestHeaders,
    responseHeaders: end.responseHeaders,
  };
}

/** As its proxy has settled it; for a call whose process died, what it has cost if that is sure. */
function costInBudgets(end: KnownEnd, { costStatus, totalCost }: PricedCall): PicoUsd | null {
  if (end.budgetCost !== undefined) return end.budgetCost === null ? null : parseUsd(end.budgetCost);
  return costStatus === 'exact' ? totalCost : null;
}

export function makeInterruptedItem(
  begin: CallBegin,
  checkpoint: CallCheckpoint | null,
  context: BatchContext,
): CallItem {
  return makeCallItem(begin, interruptedEnd(begin, checkpoint), [], context);
}
