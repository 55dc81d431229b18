/** What one batch is made of: spool records, priced and shaped for the database. Plain data. */
import type { CallBegin, CallBody, CallCheckpoint } from '../call-record.ts';
import type { LlmRequestRow } from '../store/llm-request-row.ts';

export type HeaderList = readonly (readonly [string, string])[];

/** A call that has ended. */
export interface CallItem {
  readonly kind: 'call';
  readonly row: LlmRequestRow;
  /** The row as a line of COPY, made while the database is busy with the batch before. */
  readonly copyText: string;
  /** See `CallEnd`; null for all but the calls that carry a result which can be fetched again. */
  readonly billedOnceAs: string | null;
  readonly bodies: readonly CallBody[];
  readonly requestHeaders: HeaderList;
  readonly responseHeaders: HeaderList;
}

/** A call whose ending is not in this batch. */
export interface OpenItem {
  readonly kind: 'open';
  readonly begin: CallBegin;
  /** The spool directory of the process that holds it. */
  readonly process: string;
}

/** The latest reading of a call that is still open. */
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
