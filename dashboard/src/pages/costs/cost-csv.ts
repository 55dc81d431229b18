/** The table as a file: every group with exact figures. Loaded when it is asked for. */
import { stringify } from 'csv-stringify/browser/esm/sync';
import type { CostSums, Costs } from '../../api/costs.ts';
import type { CostRow } from './cost-rows.ts';

const FIGURES = [
  'total_cost',
  'calls',
  'errors',
  'client_closed_calls',
  'unpriced_calls',
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const satisfies readonly (keyof CostSums)[];

/** A text that a spreadsheet would take for a formula gets an apostrophe in front. */
export function formatCostCsv(labels: readonly string[], rows: readonly CostRow[], totals: CostSums): string {
  const figures = (sums: CostSums) => FIGURES.map((name) => sums[name]);
  const pad = (names: readonly string[]) => labels.map((_, index) => names[index] ?? '');
  return stringify(
    [
      [...labels, ...FIGURES, 'average_cost'],
      ...rows.map(({ names, sums, averageCost }) => [...pad(names), ...figures(sums), averageCost]),
      [...pad(['Total']), ...figures(totals), null],
    ],
    { escape_formulas: true },
  );
}

export function csvFileName(by: readonly string[], from: string, to: string): string {
  const what = by.map((id) => id.replaceAll(/[^\w.-]+/g, '-')).join('-');
  return `costs-by-${what}-${from.slice(0, 10)}-${to.slice(0, 10)}.csv`;
}

/** Hands the table to the browser as a file. */
export function downloadCosts(
  costs: Costs,
  by: readonly string[],
  labels: readonly string[],
  rows: readonly CostRow[],
): void {
  const text = formatCostCsv(labels, rows, costs.totals);
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = csvFileName(by, costs.from, costs.to);
  link.click();
  URL.revokeObjectURL(url);
}
