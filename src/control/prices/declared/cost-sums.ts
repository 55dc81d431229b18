/** Calls and costs before and after, for a day, a model or all, in the API's form. */
import { formatUsd, type PicoUsd } from '../../../vocabulary/usd.ts';

export interface CostSums {
  readonly calls: number;
  readonly changed: number;
  /** Decimal text; without a total, the known part. */
  readonly old_cost: string;
  readonly new_cost: string;
  readonly old_unpriced: number;
  readonly new_unpriced: number;
}

export interface SummedCall {
  readonly isChanged: boolean;
  readonly oldCost: PicoUsd;
  readonly newCost: PicoUsd;
  readonly wasUnpriced: boolean;
  readonly isUnpriced: boolean;
}

export interface CostSummer {
  readonly add: (call: SummedCall) => void;
  readonly read: () => CostSums;
}

export function createCostSummer(): CostSummer {
  const counts = { calls: 0, changed: 0, old_unpriced: 0, new_unpriced: 0 };
  let [oldCost, newCost] = [0n, 0n];
  return {
    add: (call) => {
      counts.calls += 1;
      counts.changed += call.isChanged ? 1 : 0;
      counts.old_unpriced += call.wasUnpriced ? 1 : 0;
      counts.new_unpriced += call.isUnpriced ? 1 : 0;
      oldCost += call.oldCost;
      newCost += call.newCost;
    },
    read: () => ({ ...counts, old_cost: formatUsd(oldCost), new_cost: formatUsd(newCost) }),
  };
}
