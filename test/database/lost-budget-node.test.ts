/** What a node that is lost held of hard budgets: what ends it, and what becomes of a node that comes back. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { listBudgetNodes, releaseNode } from '../../src/control/budgets/budget-nodes.ts';
import { insertBudget, readAllBudgets } from '../../src/control/budgets/budget-store.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { type BillingProvider, startBillingProvider } from '../support/budgets/billing-provider.ts';
import { type BudgetNode, type BudgetNodes, createBudgetNodes } from '../support/budgets/budget-nodes.ts';
import { runTrial } from '../support/budgets/budget-trial.ts';
import { HARD_BUDGET } from '../support/budgets/hard-budget.ts';
import { insertRunBudget } from '../support/budgets/run-budget.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const AMOUNT = parseUsd('0.02');
let db: AdminDatabase;
let provider: BillingProvider;
let budgetId: number;
let fleet: BudgetNodes;

const isReady = async () => fleet.nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1);
const stateIs = (state: string) => fleet.until(async () => (await fleet.stateOf()) === state);

async function ask(node: BudgetNode, run: string, calls = 4) {
  const trial = { run, calls, random: createSeededRandom(12), maxTokens: 200, endings: ['json'] } as const;
  return (await runTrial({ bases: [node.proxy.base], key: fleet.key }, trial)).burst;
}

/** Until the run has no money left on this node. */
async function useUp(node: BudgetNode, run: string): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) if ((await ask(node, run, 16)).refused > 0) return;
  throw new Error('the run never came to its end');
}

async function addStored(node: string, run: string, spent: string): Promise<void> {
  await db.pool.query(
    `insert into budget_spend as b (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, $2, to_timestamp(0), $3, $4, 1)
     on conflict (account_id, budget_id, value, period_start, node) do update set spent = excluded.spent, updated_at = now()`,
    [budgetId, run, node, spent],
  );
}

async function leaseOf(node: string, run: string): Promise<string | undefined> {
  const { rows } = await db.pool.query<{ held: string }>(
    'select held from budget_leases where budget_id = $1 and value = $2 and node = $3',
    [budgetId, run, node],
  );
  return rows[0]?.held;
}

async function setSilence(node: string, silence: string): Promise<void> {
  await db.pool.query('update nodes set seen_at = now() - $2::interval where name = $1', [node, silence]);
}

/** One that held all of every budget, and is gone. */
async function addLostNode(silence: string): Promise<void> {
  await fleet.noteSign(fleet.idOf('lost'), 'lost');
  await db.pool.query("insert into budget_nodes (node, state, id) values ('lost', 'sole', $1)", [fleet.idOf('lost')]);
  await setSilence('lost', silence);
}

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  provider = await startBillingProvider();
  budgetId = await insertRunBudget(db.pool, AMOUNT);
}, 60_000);
beforeEach(async () => {
  await fleet?.stopAll();
  await db.pool.query('truncate budget_nodes, budget_leases, budget_spend');
  await db.pool.query('delete from nodes');
  fleet = createBudgetNodes(db.pool, provider.origin);
});
afterAll(async () => {
  await fleet.stopAll();
  await provider.close();
  await db.stop();
});

test('after the time that is set, what a lost node may have spent of the runs that it is known to have met counts as spent, and others go on', async () => {
  await addStored('lost', 'known', '0.005');
  await addLostNode('23 hours');
  const third = await fleet.start('c');
  await fleet.until(isReady);
  await stateIs('c joining, lost sole');
  expect(await ask(third, 'fresh')).toMatchObject({ odd: ['503', '503', '503', '503'] });

  await setSilence('lost', '25 hours');
  await stateIs('c sharing, lost sharing');
  expect(await ask(third, 'fresh')).toMatchObject({ admitted: 4, odd: [] });
  expect(await ask(third, 'known')).toMatchObject({ admitted: 0, refused: 4 });
  expect(await leaseOf('lost', 'known')).toBe('0.020000000000');

  const overview = z
    .object({ nodes: z.array(z.looseObject({ name: z.string() })) })
    .parse(await (await db.ask('/budget-overview')).json());
  expect(overview.nodes.find(({ name }) => name === 'lost')).toMatchObject({
    mode: 'sharing',
    lost: true,
    holds: [{ account_id: 1, budget_id: budgetId, held_usd: '0.02', unused_usd: '0.015' }],
  });
  const path = '/budget-nodes/lost/release';
  expect(await db.send('POST', path)).toEqual({ status: 200, body: { released_usd: '0.015' } });
  expect(await db.send('POST', path)).toMatchObject({ status: 404 });
  const { rows: noted } = await db.pool.query(
    "select subject_id, after from audit_log where action = 'budget.release'",
  );
  expect(noted).toEqual([{ subject_id: 'lost', after: { released_usd: '0.015' } }]);
  await stateIs('c sole');
  await useUp(third, 'known');
  const spent = await fleet.spentOf('known', budgetId);
  expect(spent).toBeGreaterThan(0n);
  expect(spent).toBeLessThanOrEqual(parseUsd('0.015'));
}, 120_000);

test('of a budget by account, key or owner, and of one for a certain value, a lost node counts as having spent all', async () => {
  const common = { ...HARD_BUDGET, amount: parseUsd('5'), period: 'month' } as const;
  const house = await insertBudget(db.pool, { ...common, name: 'House', scope: 'account' });
  const owners = await insertBudget(db.pool, { ...common, name: 'Owner', scope: 'owner', value: 'ann' });
  await addLostNode('25 hours');
  await fleet.start('c');
  await stateIs('c sharing, lost sharing');
  const { rows } = await db.pool.query(
    `select budget_id, value, held::text, period_start = date_trunc('month', now(), 'UTC') as "isThisMonth"
     from budget_leases where node = 'lost' order by budget_id`,
  );
  expect(rows).toEqual([
    { budget_id: house.id, value: '', held: '5.000000000000', isThisMonth: true },
    { budget_id: owners.id, value: 'ann', held: '5.000000000000', isThisMonth: true },
  ]);
  const lost = (await listBudgetNodes(db.pool, await readAllBudgets(db.pool), Date.now())).find(
    ({ node }) => node === 'lost',
  );
  expect(lost).toMatchObject({ mode: 'sharing', isLost: true });
  expect(lost?.holds.map(({ budgetId: id, unused }) => [id, unused])).toEqual([
    [house.id, parseUsd('5')],
    [owners.id, parseUsd('5')],
  ]);
  await db.pool.query('update budgets set deleted_at = now() where id = any($1)', [[house.id, owners.id]]);
  await db.pool.query('update budget_version set version = version + 1');
}, 120_000);

test('two nodes that wait for a lost one take over once, and spend no more than a budget together', async () => {
  await addLostNode('23 hours');
  const nodes = await Promise.all([fleet.start('c'), fleet.start('d')]);
  await fleet.until(isReady);
  await stateIs('c joining, d joining, lost sole');
  await setSilence('lost', '25 hours');
  await stateIs('c sharing, d sharing, lost sharing');
  await Promise.all(nodes.map((node) => useUp(node, 'both')));
  expect(await fleet.spentOf('both', budgetId)).toBeLessThanOrEqual(AMOUNT);
}, 120_000);

test('a node alone spends nothing more when others may take over soon, and goes on with its next sign of life', async () => {
  const node = await fleet.start('a');
  await fleet.until(isReady);
  await stateIs('a sole');
  expect(await ask(node, 'alone')).toMatchObject({ admitted: 4, odd: [] });
  // A day without a sign of life, but for two minutes; the margin is five.
  await setSilence('a', '23 hours 58 minutes');
  await fleet.until(async () => node.budgets.readState().mode === 'waiting');
  expect(await ask(node, 'alone too')).toMatchObject({ odd: ['503', '503', '503', '503'] });
  await setSilence('a', '1 second');
  await fleet.until(async () => node.budgets.readState().mode === 'sole');
  expect(await ask(node, 'alone too')).toMatchObject({ admitted: 4, odd: [] });
}, 120_000);

test('a node that was released while it was cut off spends no second time when it is back', async () => {
  const first = await fleet.start('a');
  await stateIs('a sole');
  const second = await fleet.start('b');
  await fleet.until(isReady);
  await stateIs('a sharing, b sharing');
  expect(await ask(second, 'cut')).toMatchObject({ admitted: 4, odd: [] });
  const before = await fleet.spentOf('cut', budgetId);
  fleet.setAway(true);
  expect(await releaseNode(db.pool, 1, 'b')).toEqual({ kind: 'lives' });
  await setSilence('b', '20 minutes');
  expect(await releaseNode(db.pool, 1, 'b')).toMatchObject({ kind: 'released' });
  expect(await leaseOf('b', 'cut')).toBe('0.000000000000');
  await fleet.noteSign(fleet.idOf('b'), 'b');
  fleet.setAway(false);
  await stateIs('a sharing, b sharing');
  // What it had spent before is its lease now, and all that it holds.
  await fleet.until(async () => (await leaseOf('b', 'cut')) === formatUsd(before).padEnd(14, '0'));
  await useUp(first, 'cut');
  await useUp(second, 'cut');
  expect(await fleet.spentOf('cut', budgetId)).toBeLessThanOrEqual(AMOUNT);
}, 120_000);

test('what a node had spent that was alone and stopped counts when two others share later, also what is stored only then', async () => {
  await addStored('before', 'old', '0.02');
  await fleet.start('a');
  await stateIs('a sole');
  const second = await fleet.start('b');
  await fleet.until(isReady);
  await stateIs('a sharing, b sharing');
  expect(await ask(second, 'old')).toMatchObject({ admitted: 0, refused: 4 });
  expect(await ask(second, 'new')).toMatchObject({ admitted: 4, odd: [] });
  await addStored('before', 'new', '0.02');
  await useUp(second, 'new');
  expect(await fleet.spentOf('new', budgetId)).toBeLessThan(parseUsd('0.012'));
}, 120_000);

test('a node alone counts what is brought later of a node that was released', async () => {
  await addStored('gone', 'brought', '0.004');
  const node = await fleet.start('a');
  await fleet.until(isReady);
  await stateIs('a sole');
  expect(await ask(node, 'brought')).toMatchObject({ admitted: 4, odd: [] });
  await addStored('gone', 'brought', '0.02');
  await fleet.until(async () => (await ask(node, 'brought', 1)).refused === 1);
}, 120_000);
