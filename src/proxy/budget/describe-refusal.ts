/** What a client is told of a budget that refuses its call: the operator's words and amounts, and of the request at most a name that the provider gives to it. */
import type { Budget, BudgetPeriod } from '../../budgets/budget.ts';
import type { ReserveAnswer } from '../../budgets/process-shares.ts';
import type { GreatestCost } from '../../pricing/greatest/greatest-cost.ts';
import { formatUsd } from '../../vocabulary/usd.ts';
import type { BudgetGate } from './budget-gate.ts';

const SCOPES: Readonly<Record<Budget['scope'], string>> = {
  run: 'this run',
  key: 'this gateway key',
  account: 'the account',
  owner: "the key's owner",
  metadata: 'this value of',
};

const PERIODS: Readonly<Record<BudgetPeriod, string>> = {
  hour: 'each hour',
  day: 'each day',
  week: 'each week',
  month: 'each month',
  once: 'in all',
};

const UNKNOWN: Readonly<Record<Extract<GreatestCost, { kind: 'unknown' }>['why'], string>> = {
  unpriced: 'its model or a part of it has no price here (`tollgate costs unpriced` lists them)',
  'unread-body': 'its body is too large or encoded and was not read',
  'no-maximum': 'it states no maximum of output and none is known of its model',
  'unknown-length': 'how much the provider will read for it is not known',
  'endless-tools': 'nothing limits how often its tools may call the model',
  'kept-tools': 'it names what the provider keeps, in which there may be tools that nothing limits',
  'other-models': 'it may have further models called',
  'no-bound': 'calls of this kind have no greatest cost',
  'billed-later': 'it is billed when its results are fetched',
};

/** `budget` null: the run's own, which its first call has set. */
export function describeExceeded(
  budget: Budget | null,
  answer: Extract<ReserveAnswer, { kind: 'refused' }>,
  gate: BudgetGate,
): string {
  const { limit, spent, reserved, claim, isShared = false } = answer;
  const rest = isShared ? ' on this node (others hold the rest)' : '';
  const sums = `$${formatUsd(spent)} spent, $${formatUsd(reserved)} reserved for open calls${rest}, up to $${formatUsd(claim.amount)} for this call`;
  if (budget === null)
    return `budget of this run: $${formatUsd(limit)} in all, set by X-Gateway-Budget-Usd; ${sums}; it does not reset`;
  const { endMs } = gate.periodOf(budget);
  const reset = endMs === null ? 'it does not reset' : `it resets at ${new Date(endMs).toISOString()}`;
  const who = budget.contact === null ? raisedBy(budget) : `ask ${budget.contact} for more`;
  return `budget "${budget.name}" of ${scopeOf(budget)}: $${formatUsd(limit)} ${PERIODS[budget.period]}; ${sums}; ${reset}; ${who}`;
}

export function describeUnknown(budget: Budget, greatest: GreatestCost): string {
  const member = greatest.kind === 'unknown' && greatest.member !== undefined ? ` (\`${greatest.member}\`)` : '';
  const why = greatest.kind === 'unknown' ? UNKNOWN[greatest.why] + member : 'it has no price';
  return `budget "${budget.name}" of ${scopeOf(budget)}: nothing says how much this call may cost, since ${why}`;
}

function scopeOf({ scope, metadataKey }: Budget): string {
  return scope === 'metadata' ? `${SCOPES.metadata} ${metadataKey}` : SCOPES[scope];
}

function raisedBy({ id }: Budget): string {
  return `whoever runs this gateway can raise it: \`tollgate budgets edit ${id} --amount USD\``;
}
