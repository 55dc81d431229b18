/** The queries about what each process has spent of budgets, as its stored calls say it. */
import type pg from 'pg';
import type { ProcessSpend } from '../../budgets/ledger-upkeep.ts';
import { parseUsd } from '../../vocabulary/usd.ts';

interface SpendRow {
  readonly process: string;
  readonly accountId: number;
  readonly budgetId: number;
  readonly value: string;
  readonly periodStart: Date;
  readonly spent: string;
  readonly refunded: string;
}

export async function listProcessSpend(
  client: pg.ClientBase | pg.Pool,
  processes: readonly string[],
): Promise<readonly (ProcessSpend & { readonly process: string })[]> {
  const { rows } = await client.query<SpendRow>(
    `select process, account_id as "accountId", budget_id as "budgetId", value, period_start as "periodStart", spent,
       refunded
     from budget_process_spend where process = any($1)`,
    [processes],
  );
  return rows.map(({ periodStart, spent, refunded, ...scope }) => ({
    ...scope,
    periodStartMs: periodStart.getTime(),
    spent: parseUsd(spent),
    refunded: parseUsd(refunded),
  }));
}

/** After the ledger has taken it in; it stays in the sums of its node. */
export async function forgetProcess(pool: pg.Pool, process: string): Promise<void> {
  await pool.query('delete from budget_process_spend where process = $1', [process]);
}
