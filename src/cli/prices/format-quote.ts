/** Formats a quote: cost lines, total, and what is unknown. Amounts are exact. */
import { z } from 'zod';
import { formatTable, right } from '../format-table.ts';
import { terminalText } from '../terminal-text.ts';

const CostLine = z.object({
  class: z.string(),
  model: z.string().optional(),
  purpose: z.string().optional(),
  quantity: z.number(),
  rate: z.string(),
  per: z.number(),
  multiplier: z.string(),
  amount: z.string(),
  row: z.string(),
});

export const QuoteAnswer = z.object({
  total_cost: z.string().nullable(),
  known_cost: z.string(),
  cost_status: z.string(),
  cost_lines: z.array(CostLine),
  price_version: z.string(),
  billing_model: z.string().nullable(),
  unpriced: z.array(
    z.object({
      class: z.string(),
      quantity: z.number(),
      model: z.string().optional(),
      purpose: z.string().optional(),
      reason: z.string(),
    }),
  ),
  notes: z.array(z.string()),
});
export type QuoteAnswer = z.infer<typeof QuoteAnswer>;

const COLUMNS = [
  'class',
  right('quantity'),
  right('rate'),
  right('per'),
  right('multiplier'),
  right('amount'),
  'where from',
] as const;

function nameOf({ class: unit, purpose, model }: QuoteAnswer['unpriced'][number] | QuoteAnswer['cost_lines'][number]) {
  return terminalText(purpose === undefined ? unit : `${unit} (${purpose} by ${model ?? 'another model'})`);
}

function describeTotal({ total_cost, known_cost, cost_status, cost_lines }: QuoteAnswer): string {
  switch (cost_status) {
    case 'exact':
      return `Total: $${total_cost ?? known_cost}`;
    case 'not_billed':
      return 'Total: $0. Nothing of it is billed.';
    case 'partial':
      return `Total: not known; at least $${known_cost}${cost_lines.length === 0 ? '.' : ', the sum of the lines above.'}`;
    case 'no_usage':
      return 'Total: not known; it may cost something, and nothing says how much.';
    default:
      return 'Total: not known; there is no price for it.';
  }
}

export function formatQuote(quote: QuoteAnswer): readonly string[] {
  const rows = quote.cost_lines.map((line) => [
    nameOf(line),
    String(line.quantity),
    `$${line.rate}`,
    String(line.per),
    line.multiplier,
    `$${line.amount}`,
    terminalText(line.row),
  ]);
  const unpriced = quote.unpriced.map(
    (entry) => `No price: ${nameOf(entry)}, ${entry.quantity}: ${terminalText(entry.reason)}.`,
  );
  return [
    ...(rows.length === 0 ? [] : [...formatTable(COLUMNS, rows), '']),
    describeTotal(quote),
    ...unpriced,
    ...quote.notes.map((note) => `Note: ${terminalText(note)}`),
    `Status ${quote.cost_status}, price version ${terminalText(quote.price_version)}${
      quote.billing_model === null ? '' : `, billed as ${terminalText(quote.billing_model)}`
    }.`,
  ];
}
