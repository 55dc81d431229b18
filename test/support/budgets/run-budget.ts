/** A hard budget of every run, once and for all, of which trials spend. */
import type pg from 'pg';
import { insertBudget } from '../../../src/control/budgets/budget-store.ts';
import type { PicoUsd } from '../../../src/vocabulary/usd.ts';

/** Resolves to its number. */
export async function insertRunBudget(pool: pg.Pool, amount: PicoUsd): Promise<number> {
  const { id } = await insertBudget(pool, {
    accountId: 1,
    name: 'Runs',
    scope: 'run',
    metadataKey: null,
    value: null,
    amount,
    period: 'once',
    timeZone: 'UTC',
    isHard: true,
    whenUnknown: 'refuse',
    heldWhenUnknown: null,
    reserves: 'greatest',
    contact: null,
  });
  return id;
}
