/** Two nodes with ledgers of their own spend of one budget: together never more than all of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { backUp, restoreFile } from '../support/backup-stage.ts';
import { type BillingProvider, ENDINGS, startBillingProvider } from '../support/budgets/billing-provider.ts';
import { type BudgetNode, type BudgetNodes, createBudgetNodes } from '../support/budgets/budget-nodes.ts';
import { costInBooks, runTrial } from '../support/budgets/budget-trial.ts';
import { FLAT_RATES } from '../support/budgets/flat-costs.ts';
import { insertRunBudget } from '../support/budgets/run-budget.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const AMOUNT = parseUsd('0.02');
let db: AdminDatabase;
let provider: BillingProvider;
let budgetId: number;
let fleet: BudgetNodes;

const TWINS = { run: 'twins', calls: 4, maxTokens: 200, endings: ['json'] } as const;

async function holderOf(name: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ id: string | null }>('select id::text from budget_nodes where node = $1', [
    name,
  ]);
  return rows[0]?.id ?? null;
}

const trial = (bases: readonly string[], run: string, seed: number) =>
  runTrial(
    { bases, key: fleet.key },
    { run, calls: 32, random: createSeededRandom(seed), maxTokens: 600, endings: ENDINGS },
  );

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  provider = await startBillingProvider();
  fleet = createBudgetNodes(db.pool, provider.origin);
  budgetId = await insertRunBudget(db.pool, AMOUNT);
}, 60_000);
afterAll(async () => {
  fleet.setAway(true);
  await fleet.stopAll();
  await provider.close();
  await db.stop();
});

test('a node alone holds all; when a second one comes both hold what they lease, and no run spends more than its budget', async () => {
  const first = await fleet.start('a');
  await fleet.until(async () => (await fleet.stateOf()) === 'a sole');
  await fleet.until(async () => first.proxy.gateway.budgets?.gate.of(1).length === 1);
  const before = trial([first.proxy.base], 'before', 1);
  const second = await fleet.start('b');
  await before;
  await fleet.until(async () => (await fleet.stateOf()) === 'a sharing, b sharing');
  await fleet.until(async () => second.proxy.gateway.budgets?.gate.of(1).length === 1);
  const both = [first.proxy.base, second.proxy.base];
  // The first node has used up that run, so nothing is left for the second one.
  await trial([second.proxy.base], 'before', 2);
  expect(await fleet.spentOf('before', budgetId)).toBeLessThanOrEqual(AMOUNT);
  for (const seed of [3, 4]) {
    const run = `both-${seed}`;
    const { burst, rest } = await trial(both, run, seed);
    expect([...burst.odd, ...rest.odd]).toEqual([]);
    const spent = await fleet.spentOf(run, budgetId);
    const cost = costInBooks(provider, run, FLAT_RATES);
    expect(cost).toBeLessThanOrEqual(AMOUNT);
    expect(spent).toBeGreaterThanOrEqual(cost);
    expect(spent).toBeLessThanOrEqual(AMOUNT);
    expect(spent).toBeGreaterThanOrEqual((AMOUNT * 9n) / 10n);
  }
}, 120_000);

test('with the database away each node spends only what it holds', async () => {
  const [first, second] = fleet.nodes;
  if (first === undefined || second === undefined) throw new Error('the nodes of the first test are missing');
  const bases = [first.proxy.base, second.proxy.base];
  const warm = { run: 'away', calls: 4, random: createSeededRandom(8), maxTokens: 200, endings: ['json'] } as const;
  await runTrial({ bases, key: fleet.key }, warm);
  fleet.setAway(true);
  await sleep(200);
  const { burst } = await trial(bases, 'away', 9);
  expect(burst.refused).toBeGreaterThan(0);
  expect(await fleet.spentOf('away', budgetId)).toBeLessThanOrEqual(AMOUNT);
  expect(costInBooks(provider, 'away', FLAT_RATES)).toBeLessThanOrEqual(AMOUNT);
  // A run that no node has seen before has nothing leased yet.
  const { burst: fresh } = await runTrial({ bases, key: fleet.key }, { ...warm, run: 'fresh', calls: 2 });
  expect(fresh).toMatchObject({ refused: 2 });
  fleet.setAway(false);
  const { burst: back } = await runTrial({ bases, key: fleet.key }, { ...warm, run: 'back' });
  expect(back).toMatchObject({ admitted: 4 });
}, 120_000);

test('a lost node that was alone blocks hard budgets until the operator says that it is gone', async () => {
  await Promise.all(fleet.nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('update nodes set stopped_at = now()');
  await fleet.noteSign(fleet.idOf('lost'), 'lost');
  await db.pool.query("update budget_nodes set node = 'lost', id = $1, state = 'sole' where node = 'a'", [
    fleet.idOf('lost'),
  ]);
  const third = await fleet.start('c');
  await fleet.until(async () => (await fleet.stateOf()) === 'c joining, lost sole');
  await fleet.until(async () => third.proxy.gateway.budgets?.gate.of(1).length === 1);
  const few = { run: 'lost', calls: 4, random: createSeededRandom(10), maxTokens: 200, endings: ['json'] } as const;
  const ask = async () => (await runTrial({ bases: [third.proxy.base], key: fleet.key }, few)).burst.odd;
  expect(await ask()).toEqual(['503', '503', '503', '503']);
  await db.pool.query("delete from nodes where name = 'lost'");
  await db.pool.query("update budget_nodes set joined_at = now() - interval '2 minutes' where node = 'lost'");
  await fleet.until(async () => (await fleet.stateOf()) === 'c sole');
  expect(await ask()).toEqual([]);
}, 120_000);

test('a node with another name and the same ledger goes on at once, with what it had spent under the former one', async () => {
  await Promise.all(fleet.nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, 'renamed', to_timestamp(0), 'c', 0.015, 3)`,
    [budgetId],
  );
  await fleet.start('d', 'c');
  await fleet.until(async () => (await fleet.stateOf()) === 'd sole');
  const { rows } = await db.pool.query(
    "select node, spent::float8, calls::int4 from budget_spend where value = 'renamed'",
  );
  expect(rows).toEqual([{ node: 'd', spent: 0.015, calls: 3 }]);
}, 120_000);

test('of two nodes with one name only the first spends of hard budgets, and the other goes on with its spend when it is gone', async () => {
  await Promise.all(fleet.nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('truncate budget_nodes, budget_leases, budget_spend, budget_process_spend');
  await db.pool.query('update nodes set stopped_at = now()');
  await fleet.start('twin', 'first twin');
  await fleet.until(async () => (await fleet.stateOf()) === 'twin sole');
  const second = await fleet.start('twin', 'second twin');
  await fleet.until(async () => fleet.nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1));
  const [first] = fleet.nodes;
  const ask = async (node: BudgetNode | undefined) =>
    (await runTrial({ bases: [node?.proxy.base ?? ''], key: fleet.key }, { ...TWINS, random: createSeededRandom(11) }))
      .burst;
  expect((await ask(second)).odd).toEqual(['503', '503', '503', '503']);
  expect((await ask(first)).odd).toEqual([]);
  const spent = await fleet.spentOf(TWINS.run, budgetId);
  expect(spent).toBeGreaterThan(0n);

  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, $2, to_timestamp(0), 'twin', $3, 4)`,
    [budgetId, TWINS.run, formatUsd(spent)],
  );
  await fleet.nodes.shift()?.stop();
  await db.pool.query('update nodes set stopped_at = now() where id = $1', [fleet.idOf('first twin')]);
  await fleet.until(async () => (await holderOf('twin')) === fleet.idOf('second twin'));
  const readSpent = async () =>
    (await second.budgets.list({ accountId: 1, budgetId }, { value: TWINS.run }, 1))[0]?.spent;
  // It has the name first, and then what was spent under it; meanwhile it spends nothing.
  await fleet.until(async () => (await readSpent()) !== undefined);
  expect(await readSpent()).toBe(spent);
  expect((await ask(second)).odd).toEqual([]);
}, 120_000);

test('a name that a node had before, and another has now, is that one’s', async () => {
  await Promise.all(fleet.nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('update nodes set stopped_at = now()');
  await fleet.start('old name', 'swapped');
  await fleet.until(async () => (await holderOf('old name')) === fleet.idOf('swapped'));
  await fleet.nodes.pop()?.stop();
  await db.pool.query("update budget_nodes set id = $1 where node = 'old name'", [fleet.idOf('another')]);
  await fleet.noteSign(fleet.idOf('another'), 'old name');
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, 'swapped', to_timestamp(0), 'old name', 0.004, 1)`,
    [budgetId],
  );
  await fleet.start('new name', 'swapped');
  await fleet.until(async () => (await holderOf('new name')) === fleet.idOf('swapped'));
  expect(await holderOf('old name')).toBe(fleet.idOf('another'));
  const { rows } = await db.pool.query("select node from budget_spend where value = 'swapped'");
  expect(rows).toEqual([{ node: 'old name' }]);
}, 120_000);

/** As if every call of the run were stored by now. */
async function storeRun(run: string): Promise<void> {
  for (const { budgets, proxy } of fleet.nodes) {
    const node = proxy.base === fleet.nodes[0]?.proxy.base ? 'x' : 'y';
    await fleet.spentOf(run, budgetId);
    const [use] = await budgets.list({ accountId: 1, budgetId }, { value: run }, 1);
    if (use === undefined) continue;
    const values = [budgetId, run, node, formatUsd(use.spent)];
    await db.pool.query(
      `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
       values (1, $1, $2, to_timestamp(0), $3, $4, 1)`,
      values,
    );
    await db.pool.query(
      `insert into budget_process_spend (account_id, budget_id, value, period_start, process, spent)
       values (1, $1, $2, to_timestamp(0), $3, $4)`,
      values,
    );
  }
}

test('after a restore what the backup says was spent counts, by this node and by others, and money of before does not', async () => {
  await Promise.all(fleet.nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('truncate budget_nodes, budget_leases, budget_spend, budget_process_spend');
  await db.pool.query('update nodes set stopped_at = now()');
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, 'of its name', to_timestamp(0), 'x', 0.019, 9), (1, $1, 'of another', to_timestamp(0), 'gone', 0.019, 9)`,
    [budgetId],
  );
  const staged = { url: db.databaseUrl, pool: db.pool };
  const file = await backUp(staged);
  await db.pool.query('truncate budget_spend');
  const isRead = async () => fleet.nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1);
  const bases = () => fleet.nodes.map(({ proxy }) => proxy.base);
  async function restore(): Promise<void> {
    await restoreFile(staged, file, { replaces: true });
    for (const { budgets } of fleet.nodes) await budgets.publish();
  }

  await fleet.start('x', 'new machine');
  await fleet.until(async () => (await fleet.stateOf()) === 'x sole');
  await fleet.until(isRead);
  await trial(bases(), 'used up', 21);
  expect(await fleet.spentOf('used up', budgetId)).toBeGreaterThanOrEqual((AMOUNT * 9n) / 10n);
  await storeRun('used up');
  await restore();
  expect(await fleet.spentOf('used up', budgetId)).toBe(0n);
  expect(await fleet.spentOf('of its name', budgetId)).toBe(parseUsd('0.019'));
  await trial(bases(), 'of its name', 22);
  expect(await fleet.spentOf('of its name', budgetId)).toBeLessThanOrEqual(AMOUNT);
  await trial(bases(), 'of another', 23);
  expect(await fleet.spentOf('of another', budgetId)).toBeLessThanOrEqual(parseUsd('0.001'));
  await trial(bases(), 'used up', 24);
  expect(await fleet.spentOf('used up', budgetId)).toBeGreaterThanOrEqual((AMOUNT * 9n) / 10n);
  expect(await fleet.spentOf('used up', budgetId)).toBeLessThanOrEqual(AMOUNT);

  await fleet.start('y', 'second machine');
  await fleet.until(async () => (await fleet.stateOf()) === 'x sharing, y sharing');
  await fleet.until(isRead);
  await trial(bases(), 'shared', 25);
  await storeRun('shared');
  await restore();
  await fleet.until(async () => (await fleet.stateOf()) === 'x sharing, y sharing');
  await trial(bases(), 'of another', 26);
  expect(await fleet.spentOf('of another', budgetId)).toBeLessThanOrEqual(parseUsd('0.001'));
  await trial(bases(), 'shared', 27);
  expect(await fleet.spentOf('shared', budgetId)).toBeGreaterThanOrEqual((AMOUNT * 9n) / 10n);
  expect(await fleet.spentOf('shared', budgetId)).toBeLessThanOrEqual(AMOUNT);
}, 240_000);
