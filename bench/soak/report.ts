/** A soak's result for a reader, and what of it must not be. Pure. */
import { formatUsd } from '../../src/vocabulary/usd.ts';
import { type Accounts, isBalanced, type SoakResult } from './run-soak.ts';

/** Files that a proxy may hold more than at its start: segments, an address that was looked up. */
const MORE_FILES = 16;
const SHOWN = 10;

export const LEGEND = `Faults come in three lanes beside each other: long ones (database suspended or stopped, disk full), kills
and restarts, and the clock. Proxies and the supervisor are killed on a full disk as well, as long as directories are laid
out for those that start on it; the supervisor is not killed while the database is away. One call in sixteen is a websocket.
The clock is that of the gateway's processes; the database keeps the real one.`;

/** Everything that must be zero, and is not. */
export function listFaults(result: SoakResult): string[] {
  const { count, accounts } = result;
  const lists = {
    lost: count.lost,
    'with more than one row': count.duplicates,
    'sent to the provider more than once': count.repeated,
    'with altered bytes': count.alteredBytes,
    'wrong at the client': count.wrongAtClient,
    'with a wrong row': count.wrongRows,
    'in the log and made by nobody': count.unknownRows,
  };
  const numbers = {
    'cost difference': costDifference(result),
    'partial cost difference': count.partialCost - count.ledgerPartialCost,
    'roll-up differences': result.rollupDifferences,
    'open calls': result.openCalls,
    'connections with an answer owed': result.providerSockets.busy,
    'more idle connections than there were calls at once': Math.max(
      0,
      result.providerSockets.open - result.mostIdleSockets,
    ),
    'processes left': result.processesLeft,
    ...(accounts === null ? {} : listAccountFaults(accounts, count.rows)),
    'more open files than at the start': Math.max(0, result.filesAfter.files - result.filesBefore.files - MORE_FILES),
  };
  return [
    ...(accounts === null ? ['the gateway gives no account of its calls'] : []),
    ...(accounts === null || isBalanced(accounts) ? [] : ['the accounts do not balance']),
    ...Object.entries(lists).flatMap(([what, calls]) =>
      calls.length === 0 ? [] : [`${calls.length} calls ${what}:`, ...calls.slice(0, SHOWN).map((call) => `  ${call}`)],
    ),
    ...Object.entries(numbers).flatMap(([what, number]) =>
      number === 0 || number === 0n ? [] : [`${what}: ${number}`],
    ),
  ];
}

function listAccountFaults(accounts: Accounts, rows: number): Readonly<Record<string, number>> {
  return {
    'lost by its own account': accounts.lost,
    'not accounted for': accounts.unaccounted,
    'in the account as waiting, in flight or set aside': accounts.spooled + accounts.inFlight + accounts.setAside,
    'difference of its account of stored calls to the rows': accounts.stored - rows,
  };
}

/** In pico-dollars, over all providers; differences do not make up for each other. */
export function costDifference({ count }: SoakResult): bigint {
  const providers = new Set([...Object.keys(count.costs), ...Object.keys(count.ledgerCosts)]);
  return [...providers].reduce((sum, provider) => {
    const difference = (count.costs[provider] ?? 0n) - (count.ledgerCosts[provider] ?? 0n);
    return sum + (difference < 0n ? -difference : difference);
  }, 0n);
}

function formatAccounts(accounts: Accounts): string {
  const { accepted, stored, spooled, inFlight, setAside, lost } = accounts;
  const sum = `stored ${stored} + spooled ${spooled} + in flight ${inFlight} + set aside ${setAside} + lost ${lost}`;
  return `accepted ${accepted} ${isBalanced(accounts) ? '=' : 'IS NOT'} ${sum}`;
}

export function formatSoak(result: SoakResult): string {
  const { count, figures, accounts } = result;
  const sums = Object.keys(count.ledgerCosts)
    .sort()
    .map(
      (name) => `${name} ${formatUsd(count.costs[name] ?? 0n)} (ledger ${formatUsd(count.ledgerCosts[name] ?? 0n)})`,
    );
  const list = (entries: Iterable<readonly [string, number]>) =>
    [...entries].map(([name, number]) => `${name} ${number}`).join(', ');
  return [
    `soak of ${result.minutes} minutes, seed ${result.seed}`,
    `calls              ${count.calls}: ${count.whole} whole, ${count.cut} cut, ${count.aborted} broken off by the client, ${count.refused} refused (${count.idleClosed} of them on a connection that the provider closed just then); ${count.raced} of the cut ones on a kept connection that a rolling restart closed just then`,
    `reached            ${count.reached} the provider`,
    `websockets         ${count.sessions} of the calls: ${list(Object.entries(count.sessionOutcomes).sort())}`,
    `rows               ${count.rows}: ${list(Object.entries(count.outcomes).sort())}`,
    `faults             ${list([...result.faults].sort(([a], [b]) => a.localeCompare(b)))}; ${result.killsOnFullDisk} of the kills of proxies and the supervisor on a full disk`,
    ...result.leftOut.map((what) => `left out           ${what}`),
    `costs              ${sums.join(', ')}; partial ${formatUsd(count.partialCost)} (ledger ${formatUsd(count.ledgerPartialCost)})`,
    `peak memory, MB    ${list(Object.entries(figures.peakMb))} (the largest process of each kind)`,
    `processor          ${Math.round(result.cpuShare * 100)} % of one core`,
    `drained in         ${result.drainMs} ms`,
    `idle sockets       ${result.providerSockets.open} to the provider, of at most ${result.mostIdleSockets}`,
    `open files         ${result.filesBefore.files} before, ${result.filesAfter.files} after (sockets ${result.filesBefore.sockets}, ${result.filesAfter.sockets}; the proxy with most)`,
    ...(accounts === null ? [] : [`accounts           ${formatAccounts(accounts)}`]),
    `lost = ${count.lost.length}`,
    `duplicates = ${count.duplicates.length}`,
    `altered bytes = ${count.alteredBytes.length}`,
    `cost difference = ${costDifference(result)}`,
    `partial cost difference = ${count.partialCost - count.ledgerPartialCost}`,
    `roll-up differences = ${result.rollupDifferences}`,
    `interrupted rows = ${count.outcomes['interrupted'] ?? 0}`,
    `open calls = ${result.openCalls}`,
    `open sockets with a call = ${result.providerSockets.busy}`,
    `processes left = ${result.processesLeft}`,
    ...listFaults(result).map((fault) => `FAULT ${fault}`),
  ].join('\n');
}
