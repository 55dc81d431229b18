/** Counts the calls of a batch that was stored: every ending that was read, but for those that were put aside. Pure. */
import type { SpoolEntry } from '../call-record.ts';
import type { CallTally } from '../spool/call-tally.ts';

/**
 * `isSuspect`: earlier records may be missing that were counted elsewhere, or never; a call with the number 1 says that
 * they are not. Returns whether that is still open.
 */
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
