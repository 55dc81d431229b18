/** What a call has to reserve, in each budget that it comes under. Refuses what no budget may let through. */
import { type Budget, RUN_BUDGET_ID } from '../../budgets/budget.ts';
import { type BudgetedCall, claimOf, countedAs, countingClaim, runClaim } from '../../budgets/claims.ts';
import type { Claim } from '../../budgets/ledger.ts';
import type { GreatestCost } from '../../pricing/greatest/greatest-cost.ts';
import { GatewayError } from '../../vocabulary/errors.ts';
import type { PicoUsd } from '../../vocabulary/usd.ts';
import type { BudgetGate } from './budget-gate.ts';
import { describeUnknown } from './describe-refusal.ts';

export interface Claims {
  readonly claims: readonly Claim[];
  /** Let through by at least one budget, though nothing says how much it may cost. */
  readonly isUnsure: boolean;
}

/** What the process had no room for: to hold the body and read it, or to copy it and ask for usage. */
export type NoRoomFor = 'body' | 'copy' | null;

const NO_CLAIMS: Claims = Object.freeze({ claims: [], isUnsure: false });

/**
 * `runBudget`: what the call says of its run's own budget; `mayHaveRunBudget`: its key allows one. `readGreatest` is asked
 * only when a budget applies. `fetchesResult`: what the call costs was caused by an earlier one, and is known when it ends.
 * Throws `bodies_busy` where a hard budget needs what there was no room for: without it the call would hold or cost a
 * wrong sum, and soon there is room again.
 */
export function listClaims(
  gate: BudgetGate,
  call: BudgetedCall,
  runBudget: PicoUsd | null,
  mayHaveRunBudget: boolean,
  readGreatest: () => GreatestCost,
  noRoomFor: NoRoomFor,
  fetchesResult: boolean,
  nowMs: number,
): Claims {
  const applying = gate.of(call.accountId).flatMap((budget) => {
    const value = countedAs(budget, call);
    return value === null ? [] : [{ budget, value }];
  });
  const ofRun = call.traceId !== null && (runBudget !== null || mayHaveRunBudget) ? call.traceId : null;
  if (applying.length === 0 && ofRun === null) return NO_CLAIMS;
  const greatest = readGreatest();
  const isFree = greatest.kind === 'known' && greatest.amount === 0n;
  if (isFree && !fetchesResult) return NO_CLAIMS;
  const hasHard = () =>
    applying.some(({ budget }) => budget.isHard) ||
    (ofRun !== null && (runBudget !== null || gate.hasRunBudget(call.accountId, ofRun)));
  if (isMissing(noRoomFor, greatest) && hasHard()) throw new GatewayError('bodies_busy');
  const amount = greatest.kind === 'known' ? greatest.amount : null;
  const claims = applying.map(({ budget, value }) => {
    const claim = claimOf(budget, value, amountFor(budget, greatest), gate.periods, nowMs);
    if (claim !== 'refused') return claim;
    throw new GatewayError('budget_unpriced', { detail: describeUnknown(budget, greatest) });
  });
  if (ofRun !== null) claims.push(runClaim(call.accountId, ofRun, runBudget, amount ?? 0n));
  return {
    claims: isFree ? claims.map(countingClaim) : claims,
    isUnsure: amount === null && claims.some((claim) => claim.amount === 0n || claim.budgetId === RUN_BUDGET_ID),
  };
}

/** Of some calls nothing is known or all, whatever is in their bodies. */
function isMissing(noRoomFor: NoRoomFor, greatest: GreatestCost): boolean {
  if (noRoomFor === 'body') return greatest.kind === 'unknown' && greatest.why === 'unread-body';
  return noRoomFor === 'copy';
}

/** Null: nobody knows. What calls usually cost is known after a hundred of them. */
function amountFor({ reserves }: Budget, greatest: GreatestCost): PicoUsd | null {
  const amount = greatest.kind === 'known' ? greatest.amount : null;
  if (reserves === 'greatest' || greatest.usual === undefined) return amount;
  return amount !== null && amount < greatest.usual ? amount : greatest.usual;
}
