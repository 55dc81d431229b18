/** The account of a process directory at its end: which calls there were, and what became of each. Pure. */
import type { CallTally } from '../../spool/call-tally.ts';
import type { Losses } from '../../spool/losses-file.ts';

export interface ClosedAccount {
  readonly accepted: number;
  readonly stored: number;
  readonly setAside: number;
  /** All that have neither: those that the process counted as lost, and those that are missing. */
  readonly lost: number;
  /** Of those that were lost: the process did not count them, although it had given them a number. */
  readonly missing: number;
}

/**
 * Calls have the numbers 1, 2, …, so the highest that was found says how many there were at least. A call whose ending
 * was lost, but whose beginning was not, is stored as interrupted: then it is not lost.
 */
export function closeAccount(tally: CallTally, losses: Losses, endedAtLeast: number): ClosedAccount {
  const { stored, setAside, highestOrdinal } = tally;
  const known = stored + setAside;
  // The last calls of all may have left no record at all: then only the ledger, or the process itself, knew of them.
  const lastLost = Math.max(0, ...losses.entries.map(({ lastOrdinal }) => lastOrdinal ?? 0));
  const accepted = Math.max(highestOrdinal, lastLost, endedAtLeast, known);
  const lost = accepted - known;
  return { accepted, stored, setAside, lost, missing: Math.max(0, lost - losses.calls) };
}
