/** Deletes sums of budgets that nothing reads any more, by the database's clock, a bounded number at a time. */
import type pg from 'pg';
import { FORGOTTEN_AFTER_MS } from '../../budgets/ledger-upkeep.ts';

/** Of each table, in a round; a node has one a minute. */
const MAX_ROWS = 5_000;

const IS_OLD = `updated_at < now() - make_interval(secs => ${FORGOTTEN_AFTER_MS / 1_000})`;

/** What has spent of a scope counts together: while one node still spends of it the sums and leases of all stay, however old. */
const IS_USED = `exists (select from budget_spend n where n.account_id = o.account_id and n.budget_id = o.budget_id
  and n.value = o.value and n.period_start = o.period_start and not n.${IS_OLD})`;

/** The longest period is a month, so old sums of periods are of past ones, which no page shows. */
const STATEMENTS: readonly string[] = [
  ['budget_spend', IS_USED],
  ['budget_leases', IS_USED],
  ['budget_process_spend', 'false'],
].map(
  ([table, stays]) => `delete from ${table} where ctid = any(array(
    select o.ctid from ${table} o where o.${IS_OLD} and not ${stays} order by o.updated_at limit ${MAX_ROWS}))`,
);

/** A row to which a call is added meanwhile stays: it has another place then. */
export async function forgetOldSums(pool: pg.Pool): Promise<void> {
  for (const statement of STATEMENTS) await pool.query(statement);
}
