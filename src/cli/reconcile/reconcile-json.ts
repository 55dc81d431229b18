/** A comparison as JSON: one object per row, a summary last. Money is exact decimal text. */

import { formatUsd, type PicoUsd } from '../../vocabulary/usd.ts';
import type { Comparison, CostRow, TokenRow } from './report/comparison.ts';
import { type Explanation, totalCosts } from './report/explain-comparison.ts';
import type { TokenCounts } from './report/provider-report.ts';

function money(amount: PicoUsd | null): string | null {
  return amount === null ? null : formatUsd(amount);
}

function tokens(counts: TokenCounts | null): Readonly<Record<string, number>> | null {
  if (counts === null) return null;
  return {
    input_tokens: counts.input,
    cache_read_input_tokens: counts.cacheRead,
    cache_creation_input_tokens: counts.cacheCreation,
    output_tokens: counts.output,
  };
}

function shared(row: CostRow | TokenRow) {
  return {
    day: row.day,
    model: row.name,
    logged_as: row.loggedAs,
    calls: row.calls,
    errors: row.errors,
    unpriced_calls: row.unpriced,
    requests: row.requests,
    status: row.status,
    open: row.isOpen,
  };
}

export function listJsonRows(comparison: Comparison, explanation: Explanation, about: object): readonly object[] {
  const { billed, logged } = totalCosts(comparison.costs.filter(({ isOpen }) => !isOpen));
  const hasCosts = comparison.costs.length > 0;
  return [
    ...comparison.costs.map((row) => ({
      type: 'cost',
      ...shared(row),
      billed: money(row.billed),
      logged: money(row.logged),
      drift: money(row.drift),
    })),
    ...comparison.tokens.map((row) => ({
      type: 'tokens',
      ...shared(row),
      billed: tokens(row.billed),
      logged: tokens(row.logged),
      drift: tokens(row.drift),
      estimated_drift_cost: money(row.driftCost),
    })),
    {
      type: 'summary',
      ...about,
      billed: hasCosts ? money(billed) : null,
      logged: hasCosts ? money(logged) : null,
      drift: hasCosts ? money(billed - logged) : null,
      agrees: explanation.agrees,
      verdict: explanation.verdict,
      findings: explanation.findings,
      notices: comparison.notices,
    },
  ];
}
