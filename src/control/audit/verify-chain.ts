/** Checks row after row that each is as it was written and follows the one before. No database. */
import { type AuditEntry, hashEntry } from './audit-entry.ts';

export interface ChainVerdict {
  readonly entries: number;
  /** Null for none. */
  readonly firstSeq: number | null;
  readonly lastSeq: number | null;
  /** Of the last row that holds; of what the first follows when there is none. */
  readonly lastHash: string | null;
  /** The first row that does not hold. */
  readonly broken: { readonly seq: number; readonly why: string } | null;
  /** Whether `expected` is the hash of a row, or of what the first one follows. */
  readonly hasExpected: boolean;
}

export interface Beginning {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainCheck {
  /** Returns false when nothing after it needs to be read. */
  readonly add: (entry: AuditEntry) => boolean;
  readonly verdict: () => ChainVerdict;
}

/** `beginning` is what the first row must follow; null where nobody knows, as in a file. */
export function checkChain(beginning: Beginning | null, expected: string | null): ChainCheck {
  let previous = beginning;
  let entries = 0;
  let firstSeq: number | null = null;
  let broken: ChainVerdict['broken'] = null;
  let hasExpected = beginning !== null && beginning.hash === expected;

  function judge(entry: AuditEntry): string | null {
    if (hashEntry(entry) !== entry.hash) return 'it is not as it was written: its hash is of something else';
    if (previous === null) return null;
    if (entry.seq !== previous.seq + 1)
      return entry.seq > previous.seq
        ? `rows are missing before it: ${previous.seq + 1} to ${entry.seq - 1}`
        : `it stands after row ${previous.seq}`;
    if (entry.previous_hash !== previous.hash) return 'it does not follow the row before: that one was another';
    return null;
  }

  return {
    add: (entry) => {
      const why = judge(entry);
      if (why !== null) {
        broken = { seq: entry.seq, why };
        return false;
      }
      if (previous === null && entry.previous_hash === expected) hasExpected = true;
      if (entry.hash === expected) hasExpected = true;
      firstSeq ??= entry.seq;
      entries += 1;
      previous = { seq: entry.seq, hash: entry.hash };
      return true;
    },
    verdict: () => ({
      entries,
      firstSeq,
      lastSeq: entries === 0 ? null : (previous?.seq ?? null),
      lastHash: previous?.hash ?? null,
      broken,
      hasExpected,
    }),
  };
}
