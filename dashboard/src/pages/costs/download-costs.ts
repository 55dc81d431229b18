/** Hands the table to the browser as a file. */
import type { Costs } from '../../api/costs.ts';
import type { CostRow } from './cost-rows.ts';

export async function downloadCosts(
  costs: Costs,
  by: readonly string[],
  labels: readonly string[],
  rows: readonly CostRow[],
): Promise<void> {
  const { csvFileName, formatCostCsv } = await import('./cost-csv.ts');
  const text = formatCostCsv(labels, rows, costs.totals);
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = csvFileName(by, costs.from, costs.to);
  link.click();
  URL.revokeObjectURL(url);
}
