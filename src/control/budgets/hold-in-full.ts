/** A lost node that held all budgets counts as having spent each in full that it may have spent, in the periods under way. */
import type pg from 'pg';
import { RUN_BUDGET_ID } from '../../budgets/budget.ts';
import { periodAt } from '../../budgets/budget-period.ts';
import { formatUsd } from '../../vocabulary/usd.ts';
import { readDatabaseTime } from '../store/database-clock.ts';
import { readAllBudgets } from './budget-store.ts';

/**
 * Of a budget for runs or values of a metadata key nobody can list what the node may have met: those are taken of which it
 * has stored calls, and those that are seen elsewhere later are not. All other budgets are taken whole.
 */
const HOLD = `
  insert into budget_leases as l (account_id, budget_id, value, period_start, node, held)
  select b.account_id, b.budget_id, v.value, b.period_start, $1, b.held
  from (select $2::int4 as account_id, $3::int4 as budget_id, to_timestamp($4::float8 / 1000) as period_start, $5::numeric as held) b,
    lateral (
      select value from budget_spend s
      where s.account_id = b.account_id and s.budget_id = b.budget_id and s.period_start = b.period_start and s.node = $1
      union select $7::text where $7::text is not null
      union select '' where $6 = 'account'
      union select id::text from gateway_keys where $6 = 'key' and account_id = b.account_id and $7::text is null
      union select owner from gateway_keys where $6 = 'owner' and account_id = b.account_id and owner is not null and $7::text is null
    ) v
  on conflict (account_id, budget_id, value, period_start, node)
    do update set held = greatest(l.held, excluded.held), wanted_at = null, updated_at = now()`;

const HOLD_OF_RUNS = `
  insert into budget_leases as l (account_id, budget_id, value, period_start, node, held)
  select account_id, budget_id, value, period_start, node, run_limit from budget_spend
  where node = $1 and budget_id = ${RUN_BUDGET_ID} and run_limit is not null
  on conflict (account_id, budget_id, value, period_start, node)
    do update set held = greatest(l.held, excluded.held), wanted_at = null, updated_at = now()`;

export async function holdInFull(client: pg.ClientBase, node: string): Promise<void> {
  const nowMs = await readDatabaseTime(client);
  for (const { accountId, id, amount, period, timeZone, scope, value } of await readAllBudgets(client)) {
    const { startMs } = periodAt(period, timeZone, nowMs);
    await client.query(HOLD, [node, accountId, id, startMs, formatUsd(amount), scope, value]);
  }
  await client.query(HOLD_OF_RUNS, [node]);
}
