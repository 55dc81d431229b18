/** Reads what was spent of budgets, as the stored calls say it. */
import type pg from 'pg';
import { type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';

export interface StoredSpend {
  readonly accountId: number;
  readonly budgetId: number;
  readonly value: string;
  readonly periodStartMs: number;
  readonly node: string;
  readonly spent: PicoUsd;
  readonly calls: number;
  readonly runLimit: PicoUsd | null;
  readonly usedMs: number;
}

interface SpendRow {
  readonly accountId: number;
  readonly budgetId: number;
  readonly value: string;
  readonly periodStart: Date;
  readonly node: string;
  readonly spent: string;
  readonly calls: number;
  readonly runLimit: string | null;
  readonly updatedAt: Date;
}

const COLUMNS = `account_id as "accountId", budget_id as "budgetId", value, period_start as "periodStart", node, spent,
  calls, run_limit as "runLimit", updated_at as "updatedAt"`;

function toSpend(row: SpendRow): StoredSpend {
  return {
    accountId: row.accountId,
    budgetId: row.budgetId,
    value: row.value,
    periodStartMs: row.periodStart.getTime(),
    node: row.node,
    spent: parseUsd(row.spent),
    calls: row.calls,
    runLimit: row.runLimit === null ? null : parseUsd(row.runLimit),
    usedMs: row.updatedAt.getTime(),
  };
}

/** What a node has spent that may still count, the most recently used first. */
export async function listRecentSpend(
  pool: pg.ClientBase | pg.Pool,
  node: string,
  since: Date,
  most: number,
): Promise<readonly StoredSpend[]> {
  const { rows } = await pool.query<SpendRow>(
    `select ${COLUMNS} from budget_spend where node = $1 and updated_at >= $2 order by updated_at desc limit $3`,
    [node, since, most],
  );
  return rows.map(toSpend);
}
