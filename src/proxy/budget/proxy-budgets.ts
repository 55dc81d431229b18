/** The budgets of a proxy process, and what they need to know of prices. */

import type { Claim } from '../../budgets/ledger.ts';
import type { CallCosts } from '../../pricing/greatest/call-costs.ts';
import type { CallBegin, CallEnd } from '../../vocabulary/call-record.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { BudgetGate } from './budget-gate.ts';

export interface ProxyBudgets {
  readonly gate: BudgetGate;
  readonly costs: CallCosts;
  /** Null when the prices are there; else resolves when they are. Never rejects. */
  readonly loadPrices: () => Promise<void> | null;
  readonly close: () => void;
}

/**
 * What the ended call has cost; null where only the provider knows, or nobody yet, so that all that was reserved counts: the
 * call that fetches a later result reserves nothing.
 */
export function settledCost({ costs }: ProxyBudgets, begin: CallBegin, end: CallEnd): PicoUsd | null {
  const settled = costs.settledOf(begin.accountId, begin, end);
  if (settled.kind === 'repeated') return 0n;
  return settled.kind === 'exact' ? settled.amount : null;
}

/** What it adds to its budgets: the one that fetches a later result replaces what was held for it. */
export function addedCost(
  budgets: ProxyBudgets,
  begin: CallBegin,
  end: CallEnd,
  claims: readonly Claim[],
): PicoUsd | null {
  const settled = budgets.costs.settledOf(begin.accountId, begin, end);
  if (settled.kind === 'repeated') return 0n;
  if (settled.kind !== 'exact') return null;
  const { billedOnceAs } = end;
  if (billedOnceAs === undefined || begin.billed) return settled.amount;
  return budgets.gate.laterHolds.costOfFetched(begin, billedOnceAs, claims, settled.amount);
}
