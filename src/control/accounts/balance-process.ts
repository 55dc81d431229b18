/**
 * The account of one process directory while it is there: what its process says, against what is found. Pure. Both are
 * read one after the other while calls go on, so what was found later may be ahead, never behind.
 */
import type { AccountSums } from '../../admin/admin-deps.ts';
import type { ProxyMetrics } from '../../channel.ts';

export interface FoundCalls {
  readonly stored: number;
  readonly setAside: number;
  /** Endings that wait behind the cursor; at least, when not all was counted. */
  readonly spooled: number;
  readonly isWhole: boolean;
  readonly highestOrdinal: number;
  /** By the ledger of the process. */
  readonly lost: number;
}

/** What the process said before the files were read; null when it has not yet, or is gone. */
export type SaidCalls = Pick<ProxyMetrics, 'acceptedTotal' | 'inFlight' | 'keptTotal' | 'recordsLost'>;

export interface ProcessBalance extends AccountSums {
  /** Calls whose ending was kept, by the process, and is not found. */
  readonly difference: number;
}

export function balanceLive(said: SaidCalls | null, found: FoundCalls): ProcessBalance {
  const { stored, setAside } = found;
  const { acceptedTotal, inFlight, keptTotal, recordsLost } = said ?? NOTHING_SAID;
  const behind = Math.max(0, keptTotal - stored - setAside - found.spooled);
  // What was not counted is there, as far as anybody knows.
  const spooled = found.isWhole ? found.spooled : found.spooled + behind;
  // Calls that have ended since: first those that were in flight then. One that was given up and is there all the same
  // was not lost; more than that were accepted since.
  const since = Math.max(0, stored + setAside + spooled - keptTotal);
  const ended = Math.min(since, inFlight);
  const regained = Math.min(since - ended, recordsLost);
  return {
    ...{ stored, setAside, spooled },
    accepted: acceptedTotal + since - ended - regained,
    inFlight: inFlight - ended,
    lost: recordsLost - regained,
    difference: found.isWhole ? behind : 0,
  };
}

const NOTHING_SAID: SaidCalls = { acceptedTotal: 0, inFlight: 0, keptTotal: 0, recordsLost: 0 };

/**
 * Its process is gone: calls without an ending, which the last records may still bring, count as in flight until then.
 * The rest is settled when everything is stored.
 */
export function balanceEnded(endedAtLeast: number, found: FoundCalls): ProcessBalance {
  const { stored, setAside, spooled, highestOrdinal } = found;
  const known = stored + setAside + spooled;
  const accepted = Math.max(highestOrdinal, endedAtLeast, known);
  const lost = Math.min(found.lost, accepted - known);
  return { ...{ stored, setAside, spooled, accepted, lost }, inFlight: accepted - known - lost, difference: 0 };
}
