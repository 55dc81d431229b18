/** What a budget is, and the list of them that a node's proxies hold. Money is in pico-dollars. */
import { formatUsd, type PicoUsd, parseUsd } from '../vocabulary/usd.ts';

/** What the money is counted for. */
export const BUDGET_SCOPES = ['run', 'key', 'account', 'owner', 'metadata'] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

export const BUDGET_PERIODS = ['hour', 'day', 'week', 'month', 'once'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/** What becomes of a call of which nothing says how much it may cost at most. */
export const WHEN_UNKNOWN = ['refuse', 'allow', 'hold'] as const;
export type WhenUnknown = (typeof WHEN_UNKNOWN)[number];

/**
 * What is set aside for a call: the most that it can cost, or what 99 of 100 calls of its key to its model do not exceed. With the
 * latter a call in a hundred may pass the budget, by as much as it costs more.
 */
export const BUDGET_RESERVES = ['greatest', 'usual'] as const;
export type BudgetReserves = (typeof BUDGET_RESERVES)[number];

/** The most that one budget may have: the ledger counts pico-dollars in 64 bits, with room for what soft budgets let pass. */
export const MAX_BUDGET_USD: PicoUsd = parseUsd('1000000');

export interface Budget {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
  readonly scope: BudgetScope;
  /** Set for `metadata` alone: the key, in any case. */
  readonly metadataKey: string | null;
  /** The one run, key id, owner or metadata value that it is for; null: each has the amount for itself. */
  readonly value: string | null;
  readonly amount: PicoUsd;
  readonly period: BudgetPeriod;
  /** IANA name of the zone in which periods begin. */
  readonly timeZone: string;
  /** False: calls beyond it are let through, and marked. */
  readonly isHard: boolean;
  readonly reserves: BudgetReserves;
  readonly whenUnknown: WhenUnknown;
  /** Set with `hold`: what is reserved for such a call. */
  readonly heldWhenUnknown: PicoUsd | null;
  /** Whom to ask for more, in the operator's words. */
  readonly contact: string | null;
  readonly createdAtMs: number;
}

/** The budget that a run's first call sets for itself has no row of its own. */
export const RUN_BUDGET_ID = 0;

/** As the ledger file keeps them for the proxies. */
export function writeBudgets(budgets: readonly Budget[]): string {
  return JSON.stringify(
    budgets.map((budget) => ({
      ...budget,
      amount: formatUsd(budget.amount),
      heldWhenUnknown: budget.heldWhenUnknown === null ? null : formatUsd(budget.heldWhenUnknown),
    })),
  );
}

/** Reads only what `writeBudgets` wrote, in a file of ours. */
export function readBudgets(text: string): readonly Budget[] {
  type Written = Omit<Budget, 'amount' | 'heldWhenUnknown'> & {
    readonly amount: string;
    readonly heldWhenUnknown: string | null;
  };
  const written: readonly Written[] = JSON.parse(text);
  return written.map((budget) => ({
    ...budget,
    amount: parseUsd(budget.amount),
    heldWhenUnknown: budget.heldWhenUnknown === null ? null : parseUsd(budget.heldWhenUnknown),
  }));
}
