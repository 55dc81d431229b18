/** The results as a table for a reader; `--json` prints them as they are. */
import type { DownResult } from './database-down.ts';
import type { KillResult } from './kill-phase.ts';

const COLUMNS = [
  'phase',
  'kills',
  'calls',
  'whole',
  'cut',
  'reached',
  'rows',
  'ok',
  'interrupted',
  'lost',
  'twice',
  'diff',
];
const MORE_COLUMNS = ['errors', 'back ms', 'slowest ms', 'drain ms', 's'];

function cells(
  name: string,
  kills: number | string,
  backMs: number | string,
  result: KillResult | DownResult,
): string[] {
  const { tally } = result;
  const numbers = [
    tally.calls,
    tally.complete,
    tally.cut,
    tally.reached,
    tally.rows,
    tally.outcomes['ok'] ?? 0,
    tally.outcomes['interrupted'] ?? 0,
    tally.lost.length + tally.unlogged.length,
    tally.duplicates.length,
    result.differences,
    tally.clientErrors,
    backMs,
    tally.slowestMs,
    result.drainMs,
    Math.round(result.durationMs / 1000),
  ];
  return [name, kills, ...numbers].map(String);
}

export function formatTable(kills: readonly KillResult[], downs: readonly DownResult[]): string {
  const rows = [
    [...COLUMNS, ...MORE_COLUMNS],
    ...kills.map((result) => cells(nameOf(result), result.kills, result.slowestReturnMs, result)),
    ...downs.map((result) => cells(`database ${result.how}`, '-', result.downMs, result)),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  const memory = downs.map(
    ({ how, rss }) => `database ${how}: the proxy's memory went from ${rss.beforeMb} MB to ${rss.mostMb} MB at most`,
  );
  const faults = [...kills, ...downs].flatMap((result) =>
    result.faults.map((fault) => `FAULT ${nameOf(result)}: ${fault}`),
  );
  return [...lines, ...memory, ...(faults.length === 0 ? ['nothing lost, nothing twice, nothing wrong'] : faults)].join(
    '\n',
  );
}

function nameOf(result: KillResult | DownResult): string {
  if (!('victim' in result)) return `database ${result.how}`;
  return `kill ${result.victim}${result.isDatabaseDown ? ', no database' : ''}`;
}
