/** What the stored calls of a process say that it has spent of its budgets. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addSpend } from '../../src/control/budgets/add-spend.ts';
import { listProcessSpend } from '../../src/control/budgets/process-spend.ts';
import { inTransaction } from '../../src/control/store/pool.ts';
import { parseUsd } from '../../src/vocabulary/usd.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { callBegin } from '../support/call-fixtures.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

let db: AdminDatabase;
beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
}, 60_000);
afterAll(() => db.stop());

test('what fetched results take off is told apart, also where it replaces an interrupted call', async () => {
  const scope = { budgetId: 7, value: 'ada', periodStartMs: 0 };
  const end = (cost: string | null, held: string, isReplacement = false) => ({
    begin: callBegin(1, { budgets: [{ ...scope, amount: held }] }),
    process: 'p1',
    cost: cost === null ? null : parseUsd(cost),
    isReplacement,
  });
  const store = (...ends: readonly ReturnType<typeof end>[]) =>
    inTransaction(db.pool, (client) => addSpend(client, ends));
  await store(end('2', '3'), end('-4.5', '0'), end(null, '3'));
  await store(end('-0.5', '0', true), end('1', '3', true));
  const { accountId } = callBegin(1);
  // 2 and 1 were spent, and 4.5 and 0.5 taken off.
  expect(await listProcessSpend(db.pool, ['p1'])).toEqual([
    { ...scope, accountId, process: 'p1', spent: parseUsd('-2'), refunded: parseUsd('5') },
  ]);
});
