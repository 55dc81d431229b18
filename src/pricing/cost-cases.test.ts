/**
 * Worked cases: calls whose cost was computed by hand from the providers' price lists, compared string by string. They go
 * through the quote, so their usage is read by the formats that read real answers.
 */
import { describe, expect, it } from 'vitest';
import {
  type CostCase,
  comparableLines,
  expectedLines,
  readCostCases,
  toQuoteInput,
} from '../../test/support/cost-cases.ts';
import { quoteCall } from '../control/prices/quote/quote-call.ts';
import { formatUsd } from '../vocabulary/usd.ts';
import { createPriceBook } from './price-book.ts';

const NOW_MS = Date.UTC(2026, 10, 28);
const CASES = readCostCases();
const book = createPriceBook();

function quoteOf(costCase: CostCase) {
  return quoteCall(toQuoteInput(costCase), book, NOW_MS);
}

describe('the worked cases', () => {
  it('are 68, each with an id of its own', () => {
    expect(CASES).toHaveLength(68);
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
  });

  it.each(CASES.map((costCase) => [costCase.id, costCase] as const))(
    '%s costs what was worked out by hand',
    (_id, costCase) => {
      const quote = quoteOf(costCase);
      expect(quote.totalCost === null ? null : formatUsd(quote.totalCost)).toBe(costCase.expected_cost_usd);
      expect(quote.costStatus).toBe(costCase.expected_cost_usd === null ? 'unpriced' : 'exact');
      expect(comparableLines(quote.lines)).toEqual(expectedLines(costCase));
      expect({ unread: quote.unread, notes: quote.notes }).toEqual({ unread: [], notes: [] });
    },
  );
});
