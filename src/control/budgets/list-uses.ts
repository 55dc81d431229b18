/** What is spent and reserved of a budget now: by the sums of the stored calls, and by this node's ledger, which is ahead of them. */
import type pg from 'pg';
import type { Budget, RUN_BUDGET_ID } from '../../budgets/budget.ts';
import { type PeriodBounds, periodAt } from '../../budgets/budget-period.ts';
import type { ScopeUse } from '../../budgets/ledger-upkeep.ts';
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';

export interface BudgetUse {
  readonly value: string;
  readonly limit: PicoUsd;
  readonly spent: PicoUsd;
  readonly reserved: PicoUsd;
  readonly calls: number;
  /** Where it would be at the end of the period at the present pace; null for budgets without periods. */
  readonly forecast: PicoUsd | null;
}

export interface UsesOfBudget {
  readonly period: PeriodBounds;
  /** The most used first. */
  readonly uses: readonly BudgetUse[];
}

export interface UsesQuestion {
  readonly pool: pg.Pool;
  /** This node's name and ledger. */
  readonly node: string;
  readonly listOwn: (
    scope: { readonly accountId: number; readonly budgetId: number },
    only: { readonly value?: string; readonly periodStartMs?: number },
    limit: number,
  ) => Promise<readonly ScopeUse[]>;
  readonly nowMs: number;
  readonly most: number;
  readonly value?: string;
}

interface Sum {
  readonly value: string;
  readonly elsewhere: string;
  readonly own: string;
  readonly calls: number;
  readonly runLimit: string | null;
}

const SUMS = `
  select value, coalesce(sum(spent) filter (where node <> $5), 0) as elsewhere,
    coalesce(sum(spent) filter (where node = $5), 0) as own, sum(calls)::int8 as calls, min(run_limit) as "runLimit"
  from budget_spend
  where account_id = $1 and budget_id = $2 and period_start = $3 and ($4::text is null or value = $4)
  group by value order by sum(spent) desc limit $6`;

/** `budget` as in the database, or the budgets that runs have set for themselves. */
export async function listUses(
  budget: Budget | { readonly accountId: number; readonly id: typeof RUN_BUDGET_ID },
  question: UsesQuestion,
): Promise<UsesOfBudget> {
  const { pool, node, nowMs, most, value } = question;
  const period = 'period' in budget ? periodAt(budget.period, budget.timeZone, nowMs) : periodAt('once', 'UTC', nowMs);
  const scope = { accountId: budget.accountId, budgetId: budget.id };
  const only = { periodStartMs: period.startMs, ...(value === undefined ? {} : { value }) };
  const [{ rows }, own] = [
    await pool.query<Sum>(SUMS, [budget.accountId, budget.id, new Date(period.startMs), value ?? null, node, most]),
    await question.listOwn(scope, only, most),
  ];
  const stored = new Map(rows.map((row) => [row.value, row]));
  const live = new Map(own.map((use) => [use.value, use]));
  const uses = [...new Set([...stored.keys(), ...live.keys()])].map((name): BudgetUse => {
    const sum = stored.get(name);
    const use = live.get(name);
    const ownStored = parseUsd(sum?.own ?? '0');
    const ownSpent = use === undefined || use.spent < ownStored ? ownStored : use.spent;
    const spent = ownSpent + parseUsd(sum?.elsewhere ?? '0');
    const runLimit = use?.runLimit ?? (sum?.runLimit == null ? 0n : parseUsd(sum.runLimit));
    return {
      value: name,
      limit: 'amount' in budget ? budget.amount : runLimit,
      spent,
      reserved: use?.reserved ?? 0n,
      calls: sum?.calls ?? 0,
      forecast: forecastOf(spent, period, nowMs),
    };
  });
  uses.sort((a, b) => Number(b.spent + b.reserved - a.spent - a.reserved));
  return { period, uses: uses.slice(0, most) };
}

/** Too early in a period a pace says nothing. */
const LEAST_SHARE = 0.02;

function forecastOf(spent: PicoUsd, { startMs, endMs }: PeriodBounds, nowMs: number): PicoUsd | null {
  if (endMs === null) return null;
  const elapsed = Math.floor(nowMs) - startMs;
  if (elapsed < (endMs - startMs) * LEAST_SHARE) return null;
  return (spent * BigInt(endMs - startMs)) / BigInt(elapsed);
}
