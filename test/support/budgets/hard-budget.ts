/** What the hard budgets of tests and benches have in common: account 1, refusing what has no bound. */
import type { NewBudget } from '../../../src/control/budgets/budget-store.ts';

export const HARD_BUDGET = {
  accountId: 1,
  metadataKey: null,
  value: null,
  timeZone: 'UTC',
  isHard: true,
  whenUnknown: 'refuse',
  heldWhenUnknown: null,
  reserves: 'greatest',
  contact: null,
} as const satisfies Partial<NewBudget>;
