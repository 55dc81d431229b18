/** What of pricing the budgets of a call need. */
import type { AskedCall, GreatestCost, SettledCost } from '../../pricing/greatest/greatest-cost.ts';
import type { BilledBegin, BilledEnd } from '../../pricing/to-billable-call.ts';

export interface CallCosts {
  readonly greatestOf: (accountId: number, call: AskedCall) => GreatestCost;
  readonly settledOf: (accountId: number, begin: BilledBegin, end: BilledEnd) => SettledCost;
}
