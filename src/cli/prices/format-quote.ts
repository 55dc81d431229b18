/** A quote as text: the lines of the cost, the total, and in words what is not known. Amounts are exact, not rounded. */
import { formatTable } from '../format-table.ts';
import { terminalText } from '../terminal-text.ts';
import type { QuoteAnswer } from './quote-answer.ts';

const COLUMNS = [
  { title: 'class' },
  { title: 'quantity', align: 'right' },
  { title: 'rate', align: 'right' },
  { title: 'per', align: 'right' },
  { title: 'multiplier', align: 'right' },
  { title: 'amount', align: 'right' },
  { title: 'where from' },
] as const;

/** A class of another model that took part is told apart. */
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
    // Its first word is the layer.
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
