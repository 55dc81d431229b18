/** A hard budget of every run, once and for all, of which trials spend. */
import type pg from 'pg';
import { insertBudget } from '../../../src/control/budgets/budget-store.ts';
import type { PicoUsd } from '../../../src/vocabulary/usd.ts';
import { HARD_BUDGET } from './hard-budget.ts';

/** Resolves to its number. */
export async function insertRunBudget(pool: pg.Pool, amount: PicoUsd): Promise<number> {
  const { id } = await insertBudget(pool, { ...HARD_BUDGET, name: 'Runs', scope: 'run', amount, period: 'once' });
  return id;
}
