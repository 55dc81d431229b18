/** What a batch is made of: spool records, priced and shaped for the database. */
import type { CallBegin, CallBody, CallCheckpoint } from '../../vocabulary/call-record.ts';
import type { BudgetedEnd } from '../budgets/add-spend.ts';
import { encodeCopyText } from '../store/copy-text.ts';
import type { LlmRequestRow } from '../store/log-columns.ts';

export type HeaderList = readonly (readonly [string, string])[];

export interface CallItem {
  readonly kind: 'call';
  readonly row: LlmRequestRow;
  readonly copyText: string;
  /** See `CallEnd`; set for calls with a result that can be fetched again. */
  readonly billedOnceAs: string | null;
  /** Set for a call that came under budgets. */
  readonly budgeted: BudgetedEnd | null;
  readonly bodies: readonly CallBody[];
  readonly requestHeaders: HeaderList;
  readonly responseHeaders: HeaderList;
}

/** A call of which only the row is stored. */
export function bareCall(
  row: LlmRequestRow,
  { billedOnceAs, budgeted }: Pick<CallItem, 'billedOnceAs' | 'budgeted'>,
): CallItem {
  const copyText = encodeCopyText([row]);
  return { kind: 'call', row, copyText, billedOnceAs, budgeted, bodies: [], requestHeaders: [], responseHeaders: [] };
}

export interface OpenItem {
  readonly kind: 'open';
  readonly begin: CallBegin;
  readonly process: string;
}

export interface CheckpointItem {
  readonly kind: 'checkpoint';
  readonly checkpoint: CallCheckpoint;
}

export type BatchItem = CallItem | OpenItem | CheckpointItem;

export function idOfItem(item: BatchItem): string {
  switch (item.kind) {
    case 'call':
      return item.row.id;
    case 'open':
      return item.begin.id;
    case 'checkpoint':
      return item.checkpoint.id;
  }
}
