/** Formats the preview of a change of declared prices. */
import { z } from 'zod';
import { formatCount, formatSum } from '../../vocabulary/format-amounts.ts';
import { parseUsd } from '../../vocabulary/usd.ts';
import { formatTable, right } from '../format-table.ts';
import { terminalText } from '../terminal-text.ts';
import { RepriceTotals } from './format-days.ts';

const MAX_MODELS = 20;

export const PreviewAnswer = z.looseObject({
  ...RepriceTotals.shape,
  models: z.array(z.looseObject({ provider: z.string(), model: z.string().nullable(), ...RepriceTotals.shape })),
  warnings: z.array(z.string()),
});
export type PreviewAnswer = z.infer<typeof PreviewAnswer>;

const COLUMNS = [
  'model',
  right('calls'),
  right('change'),
  right('cost now'),
  right('cost then'),
  right('unpriced now'),
  right('then'),
] as const;

function formatSums(name: string, sums: RepriceTotals): string[] {
  return [
    name,
    formatCount(sums.calls),
    formatCount(sums.changed),
    formatSum(parseUsd(sums.old_cost), sums.old_unpriced),
    formatSum(parseUsd(sums.new_cost), sums.new_unpriced),
    formatCount(sums.old_unpriced),
    formatCount(sums.new_unpriced),
  ];
}

export function formatPreview(preview: PreviewAnswer): readonly string[] {
  const { models, calls, warnings } = preview;
  const rows = models
    .slice(0, MAX_MODELS)
    .map((sums) => formatSums(`${sums.provider} ${terminalText(sums.model ?? '(no model)')}`, sums));
  if (models.length > 1) rows.push(formatSums(models.length > MAX_MODELS ? `all ${models.length}` : 'all', preview));
  return [
    calls === 0
      ? 'It is for none of the calls of the last 30 days.'
      : `The latest calls that it is for (30 days, at most 2,000), as they stand and as they would be:`,
    ...(calls === 0 ? [] : formatTable(COLUMNS, rows)),
    ...warnings.map((warning) => `Warning: ${terminalText(warning)}`),
  ];
}
