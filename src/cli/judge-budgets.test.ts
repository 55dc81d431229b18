import { expect, test } from 'vitest';
import { type BudgetOverview, judgeBudgets } from './judge-budgets.ts';

const AGENTS = {
  account_id: 1,
  id: 3,
  name: 'Agents',
  hard: true,
  amount_usd: '5',
  most_value: 'checkout-4711',
  most_spent_usd: '5',
  near: 2,
  used_up: 1,
};
const QUIET = {
  ...AGENTS,
  account_id: 2,
  id: 4,
  name: 'House',
  near: 0,
  used_up: 0,
  most_value: '',
  most_spent_usd: '1',
};
const LIVE = {
  name: 'n1',
  mode: 'sharing',
  silent_seconds: 3,
  lost: false,
  holds: [{ account_id: 1, budget_id: 3, held_usd: '2', unused_usd: '1.25' }],
};

const judge = (overview: BudgetOverview) => [...judgeBudgets(overview)];

test('nothing near its end is one line, and no budgets are none', () => {
  expect(judge({ count: 1, budgets: [QUIET], nodes: [LIVE] })).toEqual([
    { level: 'ok', text: 'budgets: 1 is in force, none near its end' },
  ]);
  expect(judge({ count: 0, budgets: [], nodes: [] })).toEqual([]);
});

test('a budget near its end is told with who has spent most, and which node holds money of it that it has not spent', () => {
  expect(judge({ count: 2, budgets: [AGENTS, QUIET], nodes: [LIVE] })).toEqual([
    {
      level: 'note',
      text: 'budget 3 "Agents": 2 have used four fifths or more, 1 all of it, whose calls are refused; most is $5 of $5 by checkout-4711: tollgate budgets show 3; node n1 holds $1.25 that it has not spent',
    },
  ]);
});

test('a budget of another account is shown with that account', () => {
  const [finding] = judge({ count: 1, budgets: [{ ...QUIET, near: 1 }], nodes: [] });
  expect(finding?.text).toMatch(/^budget 4 "House" of account 2: .*: tollgate budgets show 4 --account 2$/);
});

test('money of a lost node is a problem, with what ends it', () => {
  const lost = { ...LIVE, name: 'n3', silent_seconds: 1_200, lost: true };
  expect(judge({ count: 2, budgets: [QUIET, { ...AGENTS, near: 0 }], nodes: [lost] })).toEqual([
    {
      level: 'problem',
      text: 'budgets: node n3 is silent and holds $1.25 of 3 "Agents", which nobody else can spend until their periods end; bring its spool (docs/node-gone.md), then: tollgate budgets release n3',
    },
  ]);
  expect(judge({ count: 1, budgets: [QUIET], nodes: [{ ...lost, mode: 'sole', holds: [] }] })).toEqual([
    {
      level: 'problem',
      text: 'budgets: node n3 is silent and held all of them, so that calls under hard budgets are refused; it ends by itself after budget_takeover_hours, or bring its spool (docs/node-gone.md), then: tollgate budgets release n3',
    },
  ]);
});

test('many budgets near their end do not hide the rest', () => {
  const budgets = Array.from({ length: 12 }, (_, index) => ({ ...AGENTS, id: index + 1 }));
  const findings = judge({ count: 12, budgets, nodes: [] });
  expect(findings).toHaveLength(11);
  expect(findings.at(-1)).toEqual({ level: 'note', text: 'budgets: 2 more are near their end: tollgate budgets list' });
});
