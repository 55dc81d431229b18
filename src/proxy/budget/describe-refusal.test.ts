/** What a client is told of a call without a known greatest cost. */
import { expect, it } from 'vitest';
import type { Budget } from '../../budgets/budget.ts';
import { describeUnknown } from './describe-refusal.ts';

const BUDGET: Budget = {
  id: 1,
  accountId: 1,
  name: 'All',
  scope: 'account',
  metadataKey: null,
  value: null,
  amount: 1n,
  period: 'once',
  timeZone: 'UTC',
  isHard: true,
  reserves: 'greatest',
  whenUnknown: 'refuse',
  heldWhenUnknown: null,
  contact: null,
  createdAtMs: 0,
};

it.each([
  ['no-maximum', undefined, 'it states no maximum of output and none is known of its model'],
  ['endless-tools', 'tool_search', 'nothing limits how often its tools may call the model (`tool_search`)'],
  ['other-models', 'fallbacks', 'it may have further models called (`fallbacks`)'],
  ['unknown-length', undefined, 'how much the provider will read for it is not known'],
] as const)('names the reason %s and what of the request it is: %s', (why, member, reason) => {
  const greatest = { kind: 'unknown', why, ...(member === undefined ? {} : { member }) } as const;
  expect(describeUnknown(BUDGET, greatest)).toBe(
    `budget "All" of the account: nothing says how much this call may cost, since ${reason}`,
  );
});
