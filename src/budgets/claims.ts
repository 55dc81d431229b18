/** Which budgets a call comes under, and what it has to reserve in each. Pure. */
import { hash } from 'node:crypto';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, RUN_BUDGET_ID } from './budget.ts';
import type { Periods } from './budget-period.ts';
import type { Claim } from './ledger.ts';

/** What of a call decides that. */
export interface BudgetedCall {
  readonly accountId: number;
  /** The first of its rotations: a budget outlives them. */
  readonly keyId: number;
  readonly owner: string | null;
  readonly traceId: string | null;
  readonly metadata: readonly (readonly [string, string])[];
}

/** A longer one has no place in an index of the database, and is counted by its digest. */
const MAX_VALUE_CHARS = 512;
const SHOWN_CHARS = 40;

/** Metadata as budgets count it. */
export function countedValue(value: string): string {
  if (value.length <= MAX_VALUE_CHARS) return value;
  return `${value.slice(0, SHOWN_CHARS).toWellFormed()}… (SHA-256 ${hash('sha256', value, 'hex')})`;
}

/** The value under which a budget counts the call; null: the call is none of its. */
export function countedAs(budget: Budget, call: BudgetedCall): string | null {
  const value = ownValue(budget, call);
  return value !== null && (budget.value === null || budget.value === value) ? value : null;
}

function ownValue({ scope, metadataKey }: Budget, call: BudgetedCall): string | null {
  switch (scope) {
    case 'account':
      return '';
    case 'key':
      return String(call.keyId);
    case 'owner':
      return call.owner;
    case 'run':
      return call.traceId;
    case 'metadata': {
      const lower = metadataKey?.toLowerCase();
      const found = call.metadata.find(([name]) => name.toLowerCase() === lower);
      return found === undefined ? null : countedValue(found[1]);
    }
  }
}

/** `amount` null: nobody knows what the call may cost, for which a budget may refuse it. */
export function claimOf(
  budget: Budget,
  value: string,
  amount: PicoUsd | null,
  periods: Periods,
  nowMs: number,
): Claim | 'refused' {
  const known = amount ?? amountWhenUnknown(budget);
  if (known === 'refused') return 'refused';
  return {
    accountId: budget.accountId,
    budgetId: budget.id,
    value,
    periodStartMs: periods.at(budget.period, budget.timeZone, nowMs).startMs,
    limit: budget.amount,
    isHard: budget.isHard,
    amount: known,
  };
}

/** Counts what the call turns out to cost and holds nothing for it, so that no budget refuses it; a soft one still marks it. */
export function countingClaim(claim: Claim): Claim {
  return claim.isHard ? { ...claim, amount: 0n, onlyCounts: true } : { ...claim, amount: 0n };
}

function amountWhenUnknown(budget: Budget): PicoUsd | 'refused' {
  if (budget.whenUnknown === 'hold') return budget.heldWhenUnknown ?? 0n;
  return budget.whenUnknown === 'refuse' && budget.isHard ? 'refused' : 0n;
}

/** A run's own budget. `set` is what this call says of it. */
export function runClaim(accountId: number, traceId: string, set: PicoUsd | null, amount: PicoUsd): Claim {
  return { accountId, budgetId: RUN_BUDGET_ID, value: traceId, periodStartMs: 0, limit: set, isHard: true, amount };
}
