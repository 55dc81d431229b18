/** The result of an upgrade for a reader, and what of it must not be. Pure. */
import type { Move } from './nodes.ts';
import type { UpgradeResult } from './run-upgrade.ts';
import type { MadeCall } from './steady-load.ts';

const MAX_EXAMPLES = 8;

export function describeFaults({ count, ...result }: UpgradeResult): readonly string[] {
  const lists = {
    'calls of which something is missing in the log': count.lost,
    'calls in the log twice': count.duplicates,
    'calls sent to the provider twice': count.repeated,
    'answers with altered bytes': count.alteredBytes,
    'calls refused or broken at their client': count.wrongAtClient,
    'wrong rows': count.wrongRows,
    'rows of nobody’s': count.unknownRows,
  };
  const faults = Object.entries(lists).flatMap(([what, found]) =>
    found.length === 0 ? [] : [`${found.length} ${what}:\n    ${found.slice(0, MAX_EXAMPLES).join('\n    ')}`],
  );
  const sums = (costs: Readonly<Record<string, bigint>>) => JSON.stringify(Object.entries(costs).map(String).sort());
  if (sums(count.costs) !== sums(count.ledgerCosts)) faults.push('the costs are not those of the provider’s ledger');
  if (count.partialCost !== count.ledgerPartialCost) faults.push('the costs of cut calls are not those of the ledger');
  if (result.refusedConnections > 0) faults.push(`${result.refusedConnections} connections were refused`);
  if (result.rollupDifferences > 0) faults.push(`${result.rollupDifferences} roll-ups do not equal the records`);
  if (result.openCalls > 0) faults.push(`${result.openCalls} calls are open for ever`);
  for (const { node, code, text } of result.verified)
    if (code !== 0) faults.push(`verify at ${node} ended with ${code}: ${text}`);
  return faults;
}

export function formatResult(result: UpgradeResult): string {
  const { count, calls, moves } = result;
  const cut = calls.filter(({ ending }) => ending === 'cut').length;
  const faults = describeFaults(result);
  return [
    ...moves.map(formatMove),
    `${count.calls} calls, ${count.sessions} of them websockets: ${count.whole} answered whole, ${cut} cut (${count.raced} of them on a kept connection in the instant of an unannounced stop), ${count.refused} refused, ${count.forgotten} forgotten by the release before in its own exit`,
    `${count.reached} reached the provider, ${count.rows} rows: ${JSON.stringify(count.outcomes)}`,
    `small JSON calls: ${formatTimes(calls, moves)}`,
    ...result.verified.map(({ node, text }) => `verify at ${node}: ${text.replaceAll('\n', '; ')}`),
    ...(faults.length === 0 ? ['nothing lost, nothing refused'] : faults.map((fault) => `FAULT  ${fault}`)),
  ].join('\n');
}

function formatMove(move: Move): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  const said = move.how === 'kill -9' ? '' : move.wasAnnounced ? ', announced by readyz' : ', taken out first';
  return `${move.node}: ${move.from} → ${move.to} by ${move.how}${said}: away ${seconds(move.awayMs)}, stop ${seconds(move.stopMs)}, start ${seconds(move.startMs)}`;
}

/** During the moves, and between them. */
function formatTimes(calls: readonly MadeCall[], moves: readonly Move[]): string {
  const isDuring = ({ startedMs }: MadeCall) =>
    moves.some(({ fromMs, toMs }) => startedMs >= fromMs && startedMs <= toMs);
  const json = calls.filter(({ isSmall, ending }) => isSmall && ending === 'complete');
  const describe = (name: string, list: readonly MadeCall[]) => {
    const sorted = list.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
    const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
    return `${name} p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms (${sorted.length} calls)`;
  };
  return [
    describe(
      'undisturbed',
      json.filter((call) => !isDuring(call)),
    ),
    describe('during moves', json.filter(isDuring)),
  ].join('; ');
}
