/** Sums of budgets are deleted when nothing reads them any more, and only then. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { forgetOldSums } from '../../src/control/budgets/forget-old-sums.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

let db: AdminDatabase;
beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
}, 60_000);
afterAll(() => db.stop());

async function addSum(value: string, node: string, days: number): Promise<void> {
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls, updated_at)
     values (1, 1, $1, to_timestamp(0), $2, 1, 1, now() - make_interval(days => $3))`,
    [value, node, days],
  );
}

async function listSums(): Promise<readonly string[]> {
  const { rows } = await db.pool.query<{ sum: string }>(
    "select value || ' on ' || node as sum from budget_spend order by 1",
  );
  return rows.map(({ sum }) => sum);
}

test('a sum goes 90 days after its last call, but stays while another node spends of the same', async () => {
  await addSum('old', 'a', 91);
  await addSum('recent', 'a', 89);
  await addSum('shared', 'a', 200);
  await addSum('shared', 'b', 1);
  await forgetOldSums(db.pool);
  expect(await listSums()).toEqual(['recent on a', 'shared on a', 'shared on b']);
});

test('a round deletes a bounded number, the oldest first', async () => {
  await db.pool.query('truncate budget_spend');
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls, updated_at)
     select 1, 1, 'run ' || n, to_timestamp(0), 'a', 1, 1, now() - interval '100 days' - n * interval '1 second'
     from generate_series(1, 5001) n`,
  );
  await forgetOldSums(db.pool);
  expect(await listSums()).toEqual(['run 1 on a']);
  await forgetOldSums(db.pool);
  expect(await listSums()).toEqual([]);
});

test('leases and sums of processes go after the same time', async () => {
  await db.pool.query(
    `insert into budget_leases (account_id, budget_id, value, period_start, node, held, updated_at)
     select 1, 1, '', to_timestamp(0), node, 1, now() - make_interval(days => days)
     from (values ('old', 91), ('recent', 89)) as x (node, days)`,
  );
  await db.pool.query(
    `insert into budget_process_spend (process, account_id, budget_id, value, period_start, spent, updated_at)
     select process, 1, 1, '', to_timestamp(0), 1, now() - make_interval(days => days)
     from (values ('old', 91), ('recent', 89)) as x (process, days)`,
  );
  await forgetOldSums(db.pool);
  const { rows } = await db.pool.query(
    'select (select string_agg(node, $1) from budget_leases) as leases, (select string_agg(process, $1) from budget_process_spend) as processes',
    [', '],
  );
  expect(rows).toEqual([{ leases: 'recent', processes: 'recent' }]);
});
