/** Formats the result of a re-pricing by day and model. Pure. */
import { z } from 'zod';
import { formatMoney, formatSum } from '../../vocabulary/format-amounts.ts';
import { parseUsd } from '../../vocabulary/usd.ts';
import { formatTable, right } from '../format-table.ts';
import { cutText, terminalText } from '../terminal-text.ts';

export const RepriceTotals = z.object({
  calls: z.number(),
  changed: z.number(),
  old_cost: z.string(),
  new_cost: z.string(),
  old_unpriced: z.number(),
  new_unpriced: z.number(),
});
export type RepriceTotals = z.infer<typeof RepriceTotals>;

export const RepriceDay = RepriceTotals.extend({ day: z.string(), provider: z.string(), model: z.string() });
export type RepriceDay = z.infer<typeof RepriceDay>;

const MAX_LINES = 100;
const MODEL_WIDTH = 40;

const COLUMNS = [
  'day (UTC)',
  'provider',
  'model',
  right('calls'),
  right('changed'),
  right('before'),
  right('after'),
  right('difference'),
  right('unpriced'),
] as const;

function formatSums(sums: RepriceTotals): string[] {
  const oldCost = parseUsd(sums.old_cost);
  const newCost = parseUsd(sums.new_cost);
  const difference = newCost - oldCost;
  const unpriced =
    sums.old_unpriced === sums.new_unpriced ? `${sums.new_unpriced}` : `${sums.old_unpriced} → ${sums.new_unpriced}`;
  return [
    String(sums.calls),
    String(sums.changed),
    formatSum(oldCost, sums.old_unpriced),
    formatSum(newCost, sums.new_unpriced),
    difference === 0n ? '0' : `${difference > 0n ? '+' : ''}${formatMoney(difference)}`,
    unpriced,
  ];
}

export function formatDays(days: readonly RepriceDay[], totals: RepriceTotals): readonly string[] {
  const changed = days.filter((day) => day.changed > 0);
  const shown = changed.slice(0, MAX_LINES);
  const rows = shown.map((day) => [
    day.day,
    terminalText(day.provider),
    day.model === '' ? '—' : cutText(terminalText(day.model), MODEL_WIDTH),
    ...formatSums(day),
  ]);
  const lines = formatTable(COLUMNS, [...rows, ['total', '', '', ...formatSums(totals)]]);
  const left = changed.length - shown.length;
  return left === 0 ? lines : [...lines, `(${left} more days and models: --json lists all)`];
}
