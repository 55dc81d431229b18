/**
 * What became of each call of a process directory: while its process lives, when it is gone, and when all is stored.
 * What was found may be ahead of what the process said, never behind. Pure.
 */
import type { CallTally } from '../../spool/call-tally.ts';
import type { Losses } from '../../spool/losses.ts';
import type { ProxyMetrics } from '../../vocabulary/channel.ts';
import type { LedgerSums } from '../admin/admin-deps.ts';

export interface FoundCalls {
  readonly stored: number;
  readonly setAside: number;
  /** A lower bound when not all was counted. */
  readonly spooled: number;
  readonly isWhole: boolean;
  readonly highestOrdinal: number;
  readonly lost: number;
}

/** What the process said before the files were read; null when unknown. */
export type SaidCalls = Pick<ProxyMetrics, 'acceptedTotal' | 'inFlight' | 'endsSpooled' | 'recordsLost'>;

export interface ProcessBalance extends LedgerSums {
  /** Calls whose ending the process wrote and that are not found. */
  readonly difference: number;
}

export function balanceLive(said: SaidCalls | null, found: FoundCalls): ProcessBalance {
  const { stored, setAside } = found;
  const { acceptedTotal, inFlight, endsSpooled, recordsLost } = said ?? NOTHING_SAID;
  const behind = Math.max(0, endsSpooled - stored - setAside - found.spooled);
  // The uncounted part is taken to be there.
  const spooled = found.isWhole ? found.spooled : found.spooled + behind;
  // Calls ended since: first those in flight, then newly accepted ones.
  const since = Math.max(0, stored + setAside + spooled - endsSpooled);
  const ended = Math.min(since, inFlight);
  const regained = Math.min(since - ended, recordsLost);
  return {
    stored,
    setAside,
    spooled,
    accepted: acceptedTotal + since - ended - regained,
    inFlight: inFlight - ended,
    lost: recordsLost - regained,
    difference: found.isWhole ? behind : 0,
  };
}

const NOTHING_SAID: SaidCalls = { acceptedTotal: 0, inFlight: 0, endsSpooled: 0, recordsLost: 0 };

export function countEnded(said: SaidCalls | null): number {
  return said === null ? 0 : said.endsSpooled + said.recordsLost;
}

/** The process is gone: calls without an ending count as in flight until everything is stored. */
export function balanceEnded(endedAtLeast: number, found: FoundCalls): ProcessBalance {
  const { stored, setAside, spooled, highestOrdinal } = found;
  const known = stored + setAside + spooled;
  const accepted = Math.max(highestOrdinal, endedAtLeast, known);
  const lost = Math.min(found.lost, accepted - known);
  return { stored, setAside, spooled, accepted, lost, inFlight: accepted - known - lost, difference: 0 };
}

export interface SettledCalls {
  readonly accepted: number;
  readonly stored: number;
  readonly setAside: number;
  /** Calls without a row, counted by the process or missing. */
  readonly lost: number;
  /** Numbered calls that the process did not count as lost. */
  readonly missing: number;
}

/**
 * Everything is stored. The highest number found is a lower bound of the calls. A call that lost only its ending is
 * stored as interrupted, so it is not lost.
 */
export function settleEnded(tally: CallTally, losses: Losses, endedAtLeast: number): SettledCalls {
  const { stored, setAside, highestOrdinal } = tally;
  const known = stored + setAside;
  // The last calls may have left no record, only a counted loss.
  const lastLost = Math.max(0, ...losses.entries.map(({ lastOrdinal }) => lastOrdinal ?? 0));
  const accepted = Math.max(highestOrdinal, lastLost, endedAtLeast, known);
  const lost = accepted - known;
  return { accepted, stored, setAside, lost, missing: Math.max(0, lost - losses.calls) };
}
