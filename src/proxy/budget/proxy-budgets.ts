/** The budgets of a proxy process, and what they need to know of prices. */

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

/** What the ended call has cost; null where only the provider knows, so that all that was reserved counts. */
export function settledCost({ costs }: ProxyBudgets, begin: CallBegin, end: CallEnd): PicoUsd | null {
  const settled = costs.settledOf(begin.accountId, begin, end);
  if (settled.kind === 'exact') return settled.amount;
  // The call that fetches the result has its cost.
  return settled.why === 'billed-later' ? settled.knownAmount : null;
}
