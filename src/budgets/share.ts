/**
 * A process's share of one scope's money: what it was granted, what its calls hold and what they have spent. All here is
 * arithmetic in memory; `process-shares.ts` moves money between shares and the ledger.
 */
import type { PicoUsd } from '../vocabulary/usd.ts';
import { RUN_BUDGET_ID } from './budget.ts';
import type { Claim, ScopeId, WrittenShare } from './ledger.ts';

export interface Share {
  readonly name: string;
  readonly scope: ScopeId;
  granted: PicoUsd;
  spent: PicoUsd;
  refunded: PicoUsd;
  reserved: PicoUsd;
  /** How many calls hold of it, if only nothing: they will be settled in it. */
  calls: number;
  /** The least that calls and the ledger have said of it. */
  limit: PicoUsd;
  /** What a soft budget grants says nothing of what a hard one may. */
  isHard: boolean;
  usedMs: number;
  /** The number under which the others were asked for more. */
  ask: number | null;
  overUntilMs: number;
  /** The file does not say yet how it stands. */
  isAhead: boolean;
  /** The file says something of it. */
  isInFile: boolean;
}

/** `row`: what the ledger has of it; one that this process forgot goes on as it is written there. */
export function openShare(claim: Claim, limit: PicoUsd, row: WrittenShare | undefined): Share {
  const { accountId, budgetId, value, periodStartMs } = claim;
  return {
    name: nameOf(claim),
    scope: { accountId, budgetId, value, periodStartMs },
    granted: row?.granted ?? 0n,
    spent: row?.spent ?? 0n,
    refunded: row?.refunded ?? 0n,
    reserved: 0n,
    calls: 0,
    limit,
    isHard: claim.isHard,
    usedMs: performance.now(),
    ask: null,
    overUntilMs: 0,
    isAhead: false,
    isInFile: row !== undefined,
  };
}

/** Null: only the ledger knows. */
export function fitOf(share: Share, claim: Claim, nowMs: number): 'fits' | 'over' | null {
  const { limit } = claim;
  if (claim.isHard !== share.isHard) return null;
  const isOfRun = claim.budgetId === RUN_BUDGET_ID;
  if (limit !== share.limit && !(isOfRun && (limit === null || limit > share.limit))) return null;
  // The file says that it counts here before it does.
  if (claim.onlyCounts) return share.isInFile ? 'fits' : null;
  if (share.spent + share.reserved + leastOf(claim) <= share.granted) return 'fits';
  return !claim.isHard && nowMs < share.overUntilMs ? 'over' : null;
}

/** A call of which nothing is known passes while anything is left. */
export function leastOf({ amount }: Claim): PicoUsd {
  return amount === 0n ? 1n : amount;
}

export function giveBack(share: Share): void {
  const used = share.spent + share.reserved;
  if (used >= share.granted) return;
  share.granted = used;
  share.isAhead = true;
}

export function mayGive({ isSilent, granted, spent }: WrittenShare): boolean {
  return !isSilent && granted > spent;
}

/**
 * Of nothing there need not be a row; but one that is there says of what was given back that it is still held, and one of a
 * call that holds nothing says where its cost is taken in, should the process be killed.
 */
export function isWorthWriting({ granted, spent, calls, isInFile }: Share): boolean {
  return isInFile || granted !== 0n || spent !== 0n || calls > 0;
}

export function isOver({ granted, spent, calls, ask, isAhead }: Share): boolean {
  return !isAhead && ask === null && calls === 0 && granted === spent;
}

export function nameOf({ accountId, budgetId, periodStartMs, value }: ScopeId): string {
  return `${accountId} ${budgetId} ${periodStartMs} ${value}`;
}
