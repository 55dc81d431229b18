/** What `doctor` says of budgets: which are near their end, and whose money nobody can spend. Pure. */
import { z } from 'zod';
import { formatUsd, parseUsd } from '../vocabulary/usd.ts';
import type { Finding } from './finding.ts';
import { quoteForShell, terminalText } from './terminal-text.ts';

/** `GET /api/v1/budget-overview`. */
export const BudgetOverview = z.object({
  count: z.number(),
  budgets: z.array(
    z.object({
      account_id: z.number(),
      id: z.number(),
      name: z.string(),
      hard: z.boolean(),
      amount_usd: z.string(),
      most_value: z.string().nullable(),
      most_spent_usd: z.string(),
      near: z.number(),
      used_up: z.number(),
    }),
  ),
  nodes: z.array(
    z.object({
      name: z.string(),
      mode: z.string().nullable(),
      silent_seconds: z.number().nullable(),
      lost: z.boolean(),
      holds: z.array(
        z.object({ account_id: z.number(), budget_id: z.number(), held_usd: z.string(), unused_usd: z.string() }),
      ),
    }),
  ),
});
export type BudgetOverview = z.infer<typeof BudgetOverview>;
type Standing = BudgetOverview['budgets'][number];
type Node = BudgetOverview['nodes'][number];

/** More would hide the rest of what `doctor` says. */
const MAX_TOLD = 10;

function nameOf({ account_id, id, name }: Pick<Standing, 'account_id' | 'id' | 'name'>): string {
  return `${id} "${terminalText(name)}"${account_id === 1 ? '' : ` of account ${account_id}`}`;
}

function describeNear(standing: Standing): string {
  const { near, used_up: usedUp, amount_usd, most_spent_usd, most_value, hard } = standing;
  const most = `most is $${most_spent_usd} of $${amount_usd}${most_value ? ` by ${terminalText(most_value)}` : ''}`;
  const what =
    usedUp === 0 ? '' : `, ${usedUp} all of it, ${hard ? 'whose calls are refused' : 'whose calls are marked'}`;
  return `budget ${nameOf(standing)}: ${near} ${near === 1 ? 'has' : 'have'} used four fifths or more${what}; ${most}: tollgate budgets show ${standing.id}${standing.account_id === 1 ? '' : ` --account ${standing.account_id}`}`;
}

/** Where money is short, what other nodes hold and do not use: they give it back when they are asked. */
function* describeUnused(standing: Standing, nodes: readonly Node[]): Generator<string> {
  for (const { name, lost, holds } of nodes) {
    const held = holds.find(({ budget_id }) => budget_id === standing.id);
    if (lost || held === undefined || parseUsd(held.unused_usd) === 0n) continue;
    yield `node ${terminalText(name)} holds $${held.unused_usd} that it has not spent`;
  }
}

function describeLost({ name, mode, holds }: Node, budgets: readonly Standing[]): string {
  const release = `tollgate budgets release ${quoteForShell(terminalText(name))}`;
  const advice = `bring its spool (docs/node-gone.md), then: ${release}`;
  if (mode === 'sole')
    return `budgets: node ${terminalText(name)} is silent and held all of them, so that calls under hard budgets are refused; it ends by itself after budget_takeover_hours, or ${advice}`;
  const names = holds.slice(0, MAX_TOLD).map(({ budget_id, unused_usd }) => {
    const standing = budgets.find(({ id }) => id === budget_id);
    return `$${unused_usd} of ${standing === undefined ? budget_id : nameOf(standing)}`;
  });
  return `budgets: node ${terminalText(name)} is silent and holds ${names.length === 0 ? 'nothing of them' : names.join(', ')}, which nobody else can spend until their periods end; ${advice}`;
}

export function* judgeBudgets({ count, budgets, nodes }: BudgetOverview): Generator<Finding> {
  const lost = nodes.filter((node) => node.lost);
  for (const node of lost.slice(0, MAX_TOLD)) yield { level: 'problem', text: describeLost(node, budgets) };
  const near = budgets.filter((standing) => standing.near > 0);
  for (const standing of near.slice(0, MAX_TOLD))
    yield { level: 'note', text: [describeNear(standing), ...describeUnused(standing, nodes)].join('; ') };
  if (near.length > MAX_TOLD)
    yield {
      level: 'note',
      text: `budgets: ${near.length - MAX_TOLD} more are near their end: tollgate budgets list`,
    };
  if (count > 0 && near.length === 0 && lost.length === 0)
    yield { level: 'ok', text: `budgets: ${formatCount(count)}, none near its end` };
}

function formatCount(count: number): string {
  return `${count} ${count === 1 ? 'is' : 'are'} in force`;
}

/** For `budgets nodes`. */
export function sumOf(holds: Node['holds'], what: 'held_usd' | 'unused_usd'): string {
  return formatUsd(holds.reduce((sum, one) => sum + parseUsd(one[what]), 0n));
}
