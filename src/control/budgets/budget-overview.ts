/** How budgets stand, in all accounts: what is near its end, and which nodes hold money. For whoever runs the gateway. */
import type pg from 'pg';
import type { Budget } from '../../budgets/budget.ts';
import { periodAt } from '../../budgets/budget-period.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { type BudgetNode, listBudgetNodes } from './budget-nodes.ts';
import { readAllBudgets } from './budget-store.ts';

/** Shown of all accounts, the most used first; the others are only counted. */
export const MAX_SHOWN_BUDGETS = 200;
/** Runs come and go: of budgets that every run has for itself, once, only those count that have spent lately. */
const RUN_IS_RECENT_MS = 86_400_000;
const NEAR_SHARE = '0.8';

export interface BudgetStanding {
  readonly budget: Budget;
  /** By the stored calls of the period under way, in all nodes. */
  readonly spent: PicoUsd;
  /** The run, key, … that has spent most; null when none has. */
  readonly mostValue: string | null;
  readonly mostSpent: PicoUsd;
  /** How many have used four fifths of it, and how many all. */
  readonly near: number;
  readonly usedUp: number;
}

export interface BudgetOverview {
  readonly count: number;
  readonly budgets: readonly BudgetStanding[];
  readonly nodes: readonly BudgetNode[];
}

interface StandingRow {
  readonly id: number;
  readonly spent: string;
  readonly mostValue: string | null;
  readonly mostSpent: string;
  readonly near: number;
  readonly usedUp: number;
}

const STANDING = `
  select c.id, coalesce(sum(v.spent), 0) as spent, (array_agg(v.value order by v.spent desc))[1] as "mostValue",
    coalesce(max(v.spent), 0) as "mostSpent", (count(*) filter (where v.spent >= c.amount * ${NEAR_SHARE}))::int4 as near,
    (count(*) filter (where v.spent >= c.amount))::int4 as "usedUp"
  from jsonb_to_recordset($1::jsonb) as c (account_id int4, id int4, period_ms float8, since_ms float8, amount numeric)
    left join lateral (
      select s.value, sum(s.spent) as spent from budget_spend s
      where s.account_id = c.account_id and s.budget_id = c.id and s.period_start = to_timestamp(c.period_ms / 1000)
        and s.updated_at >= to_timestamp(c.since_ms / 1000)
      group by s.value
    ) v on true
  group by c.id, c.amount order by max(v.spent) / c.amount desc nulls last, c.id limit ${MAX_SHOWN_BUDGETS}`;

export async function readBudgetOverview(pool: pg.Pool, nowMs: number): Promise<BudgetOverview> {
  const all = await readAllBudgets(pool);
  const asked = all.map(({ accountId, id, period, timeZone, scope, value, amount }) => ({
    account_id: accountId,
    id,
    period_ms: periodAt(period, timeZone, nowMs).startMs,
    since_ms: period === 'once' && scope === 'run' && value === null ? nowMs - RUN_IS_RECENT_MS : 0,
    amount: formatUsd(amount),
  }));
  const [{ rows }, nodes] = await Promise.all([
    pool.query<StandingRow>(STANDING, [JSON.stringify(asked)]),
    listBudgetNodes(pool, all, nowMs),
  ]);
  const budgets = new Map(all.map((budget) => [budget.id, budget]));
  return {
    count: all.length,
    budgets: rows.flatMap(({ id, spent, mostSpent, ...row }) => {
      const budget = budgets.get(id);
      return budget === undefined ? [] : [{ ...row, budget, spent: parseUsd(spent), mostSpent: parseUsd(mostSpent) }];
    }),
    nodes,
  };
}
