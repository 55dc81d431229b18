/** Counts the endings of a stored batch, without those put aside. Pure. */

import type { CallTally } from '../../spool/call-tally.ts';
import type { SpoolEntry } from '../../vocabulary/call-record.ts';

/** `isSuspect`: earlier records may be missing, until call number 1 is seen. Returns whether that is still open. */
export function tallyBatch(
  tally: CallTally,
  entries: readonly SpoolEntry[],
  asideIds: ReadonlySet<string>,
  isSuspect: boolean,
): boolean {
  let isFirstSeen = false;
  let isAnySeen = false;
  for (const entry of entries) {
    if (entry.type !== 'begin' && entry.type !== 'end') continue;
    const { id, ordinal } = entry.begin;
    const call = { ordinal, outcome: entry.type === 'end' ? entry.end.outcome : null };
    isAnySeen = true;
    isFirstSeen ||= ordinal === 1;
    tally.note(call);
    if (asideIds.has(id)) tally.putAside(call);
    else if (entry.type === 'end') tally.store(call);
  }
  if (isSuspect && isAnySeen && !isFirstSeen) tally.giveUp('tally_lost');
  return isSuspect && !isAnySeen;
}
