/** Two nodes with ledgers of their own spend of one budget: together never more than all of it. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BudgetLedger } from '../../src/budgets/ledger.ts';
import { LEDGER_NAME, openLedgerDatabase } from '../../src/budgets/ledger-file.ts';
import { insertBudget } from '../../src/control/budgets/budget-store.ts';
import { type NodeBudgets, openNodeBudgets } from '../../src/control/budgets/node-budgets.ts';
import { createGatewayKey } from '../../src/keys/gateway-key.ts';
import { BudgetGate } from '../../src/proxy/budget/budget-gate.ts';
import { formatUsd, parseUsd } from '../../src/vocabulary/usd.ts';
import { createSeededRandom } from '../proxy/seeded-random.ts';
import { type InProcessProxy, startProxy } from '../proxy/start-proxy.ts';
import { type AdminDatabase, startAdminDatabase } from '../support/admin-database.ts';
import { type BillingProvider, ENDINGS, startBillingProvider } from '../support/budgets/billing-provider.ts';
import { costInBooks, runTrial } from '../support/budgets/budget-trial.ts';
import { FLAT_COSTS, FLAT_RATES } from '../support/budgets/flat-costs.ts';
import { POSTGRES_KINDS } from '../support/postgres.ts';

const AMOUNT = parseUsd('0.02');
const log = pino({ level: 'silent' });
const dir = mkdtempSync(join(tmpdir(), 'tollgate-budget-nodes-'));
const key = createGatewayKey();
let db: AdminDatabase;
let provider: BillingProvider;
let budgetId: number;
/** A database that is away: nothing is exchanged. */
let isAway = false;

interface Node {
  readonly budgets: NodeBudgets;
  readonly proxy: InProcessProxy;
  readonly stop: () => Promise<void>;
}
const nodes: Node[] = [];

const ids = new Map<string, string>();

/** Of the data directory that has this ledger. */
function idOfLedger(ledger: string): string {
  const id = ids.get(ledger) ?? randomUUID();
  ids.set(ledger, id);
  return id;
}

/** Its row among the nodes, as its first sign of life writes it. */
async function noteSign(id: string, name: string): Promise<void> {
  await db.pool.query(
    `insert into nodes (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, own_settings, processes)
     values ($1, $2, 'host', '0.2.0', gen_random_uuid(), now(), now(), 0, '{}', '{}')
     on conflict (id) do update set name = excluded.name, seen_at = now(), stopped_at = null`,
    [id, name],
  );
}

/** What of a node has to do with budgets: its ledger, a proxy, and the two loops of its control process. */
async function startNode(name: string, ledger = name): Promise<Node> {
  const id = idOfLedger(ledger);
  await noteSign(id, name);
  const file = join(dir, `${ledger}-${LEDGER_NAME}`);
  const budgets = openNodeBudgets({
    file,
    id,
    node: name,
    hasProxies: true,
    listProcesses: () => [name],
    pool: db.pool,
    nowMs: Date.now,
  });
  const gate = new BudgetGate(new BudgetLedger(openLedgerDatabase(file, 'process')), name, Date.now, log);
  const proxy = await startProxy(provider.origin, {}, {}, undefined, undefined, {}, null, {
    key,
    budgets: { gate, costs: FLAT_COSTS, loadPrices: () => null, close: () => gate.close() },
  });
  let isStopped = false;
  const repeat = async (work: () => Promise<void>, pauseMs: number) => {
    while (!isStopped) {
      if (!isAway) await work();
      await sleep(pauseMs);
    }
  };
  const loops = [repeat(budgets.poll, 100), repeat(budgets.exchange, 20)];
  const node: Node = {
    budgets,
    proxy,
    stop: async () => {
      isStopped = true;
      await Promise.all(loops);
      await proxy.close();
      gate.close();
      budgets.close();
    },
  };
  nodes.push(node);
  return node;
}

async function stateOf(): Promise<string> {
  const { rows } = await db.pool.query<{ text: string }>(
    "select coalesce(string_agg(node || ' ' || state, ', ' order by node), '') as text from budget_nodes",
  );
  return rows[0]?.text ?? '';
}

async function until(what: () => Promise<boolean>): Promise<void> {
  const deadlineMs = performance.now() + 20_000;
  while (!(await what())) {
    if (performance.now() > deadlineMs) throw new Error(`not within 20 s: ${await stateOf()}`);
    await sleep(20);
  }
}

/** What all nodes have spent of a run, once nothing of it is reserved. */
async function spentOf(run: string): Promise<bigint> {
  const uses = async () => {
    const lists = nodes.map(({ budgets }) => budgets.list({ accountId: 1, budgetId }, { value: run }, 1));
    return (await Promise.all(lists)).flat();
  };
  await until(async () => (await uses()).every(({ reserved }) => reserved === 0n));
  return (await uses()).reduce((sum, { spent }) => sum + spent, 0n);
}

/** One conversation of few calls, of a run of its own. */
const TWINS = { run: 'twins', calls: 4, maxTokens: 200, endings: ['json'] } as const;

async function holderOf(name: string): Promise<string | null> {
  const { rows } = await db.pool.query<{ id: string | null }>('select id::text from budget_nodes where node = $1', [
    name,
  ]);
  return rows[0]?.id ?? null;
}

const trial = (bases: readonly string[], run: string, seed: number) =>
  runTrial({ bases, key }, { run, calls: 32, random: createSeededRandom(seed), maxTokens: 600, endings: ENDINGS });

beforeAll(async () => {
  const [kind] = POSTGRES_KINDS;
  if (kind === undefined) throw new Error('no PostgreSQL to test with');
  db = await startAdminDatabase(kind);
  provider = await startBillingProvider();
  const budget = await insertBudget(db.pool, {
    accountId: 1,
    name: 'Runs',
    scope: 'run',
    metadataKey: null,
    value: null,
    amount: AMOUNT,
    period: 'once',
    timeZone: 'UTC',
    isHard: true,
    whenUnknown: 'refuse',
    heldWhenUnknown: null,
    reserves: 'greatest',
    contact: null,
  });
  budgetId = budget.id;
}, 60_000);
afterAll(async () => {
  isAway = true;
  await Promise.all(nodes.map(({ stop }) => stop()));
  await provider.close();
  await db.stop();
  rmSync(dir, { recursive: true, force: true });
});

test('a node alone holds all; when a second one comes both hold what they lease, and no run spends more than its budget', async () => {
  const first = await startNode('a');
  await until(async () => (await stateOf()) === 'a sole');
  await until(async () => first.proxy.gateway.budgets?.gate.of(1).length === 1);
  const before = trial([first.proxy.base], 'before', 1);
  const second = await startNode('b');
  await before;
  await until(async () => (await stateOf()) === 'a sharing, b sharing');
  await until(async () => second.proxy.gateway.budgets?.gate.of(1).length === 1);
  const both = [first.proxy.base, second.proxy.base];
  // The first node has used up that run, so nothing is left for the second one.
  await trial([second.proxy.base], 'before', 2);
  expect(await spentOf('before')).toBeLessThanOrEqual(AMOUNT);
  for (const seed of [3, 4]) {
    const run = `both-${seed}`;
    const { burst, rest } = await trial(both, run, seed);
    expect([...burst.odd, ...rest.odd]).toEqual([]);
    const spent = await spentOf(run);
    const cost = costInBooks(provider, run, FLAT_RATES);
    expect(cost).toBeLessThanOrEqual(AMOUNT);
    expect(spent).toBeGreaterThanOrEqual(cost);
    expect(spent).toBeLessThanOrEqual(AMOUNT);
    expect(spent).toBeGreaterThanOrEqual((AMOUNT * 9n) / 10n);
  }
}, 120_000);

test('with the database away each node spends only what it holds', async () => {
  const [first, second] = nodes;
  if (first === undefined || second === undefined) throw new Error('the nodes of the first test are missing');
  const bases = [first.proxy.base, second.proxy.base];
  const warm = { run: 'away', calls: 4, random: createSeededRandom(8), maxTokens: 200, endings: ['json'] } as const;
  await runTrial({ bases, key }, warm);
  isAway = true;
  await sleep(200);
  const { burst } = await trial(bases, 'away', 9);
  expect(burst.refused).toBeGreaterThan(0);
  expect(await spentOf('away')).toBeLessThanOrEqual(AMOUNT);
  expect(costInBooks(provider, 'away', FLAT_RATES)).toBeLessThanOrEqual(AMOUNT);
  // A run that no node has seen before has nothing leased yet.
  const { burst: fresh } = await runTrial({ bases, key }, { ...warm, run: 'fresh', calls: 2 });
  expect(fresh).toMatchObject({ refused: 2 });
  isAway = false;
  const { burst: back } = await runTrial({ bases, key }, { ...warm, run: 'back' });
  expect(back).toMatchObject({ admitted: 4 });
}, 120_000);

test('a lost node that was alone blocks hard budgets until the operator says that it is gone', async () => {
  await Promise.all(nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('update nodes set stopped_at = now()');
  await noteSign(idOfLedger('lost'), 'lost');
  await db.pool.query("update budget_nodes set node = 'lost', id = $1, state = 'sole' where node = 'a'", [
    idOfLedger('lost'),
  ]);
  const third = await startNode('c');
  await until(async () => (await stateOf()) === 'c joining, lost sole');
  await until(async () => third.proxy.gateway.budgets?.gate.of(1).length === 1);
  const few = { run: 'lost', calls: 4, random: createSeededRandom(10), maxTokens: 200, endings: ['json'] } as const;
  const ask = async () => (await runTrial({ bases: [third.proxy.base], key }, few)).burst.odd;
  expect(await ask()).toEqual(['503', '503', '503', '503']);
  await db.pool.query("delete from nodes where name = 'lost'");
  await db.pool.query("update budget_nodes set joined_at = now() - interval '2 minutes' where node = 'lost'");
  await until(async () => (await stateOf()) === 'c sole');
  expect(await ask()).toEqual([]);
}, 120_000);

test('a node with another name and the same ledger goes on at once, with what it had spent under the former one', async () => {
  await Promise.all(nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, 'renamed', to_timestamp(0), 'c', 0.015, 3)`,
    [budgetId],
  );
  await startNode('d', 'c');
  await until(async () => (await stateOf()) === 'd sole');
  const { rows } = await db.pool.query(
    "select node, spent::float8, calls::int4 from budget_spend where value = 'renamed'",
  );
  expect(rows).toEqual([{ node: 'd', spent: 0.015, calls: 3 }]);
}, 120_000);

test('of two nodes with one name only the first spends of hard budgets, and the other goes on with its spend when it is gone', async () => {
  await Promise.all(nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('update nodes set stopped_at = now()');
  await startNode('twin', 'first twin');
  await until(async () => (await stateOf()) === 'twin sole');
  const second = await startNode('twin', 'second twin');
  await until(async () => nodes.every(({ proxy }) => proxy.gateway.budgets?.gate.of(1).length === 1));
  const [first] = nodes;
  const ask = async (node: Node | undefined) =>
    (await runTrial({ bases: [node?.proxy.base ?? ''], key }, { ...TWINS, random: createSeededRandom(11) })).burst;
  expect((await ask(second)).odd).toEqual(['503', '503', '503', '503']);
  expect((await ask(first)).odd).toEqual([]);
  const spent = await spentOf(TWINS.run);
  expect(spent).toBeGreaterThan(0n);

  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, $2, to_timestamp(0), 'twin', $3, 4)`,
    [budgetId, TWINS.run, formatUsd(spent)],
  );
  await nodes.shift()?.stop();
  await db.pool.query('update nodes set stopped_at = now() where id = $1', [idOfLedger('first twin')]);
  await until(async () => (await holderOf('twin')) === idOfLedger('second twin'));
  const [use] = await second.budgets.list({ accountId: 1, budgetId }, { value: TWINS.run }, 1);
  expect(use?.spent).toBe(spent);
  expect((await ask(second)).odd).toEqual([]);
}, 120_000);

test('a name that a node had before, and another has now, is that one’s', async () => {
  await Promise.all(nodes.splice(0).map(({ stop }) => stop()));
  await db.pool.query('update nodes set stopped_at = now()');
  await startNode('old name', 'swapped');
  await until(async () => (await holderOf('old name')) === idOfLedger('swapped'));
  await nodes.pop()?.stop();
  await db.pool.query("update budget_nodes set id = $1 where node = 'old name'", [idOfLedger('another')]);
  await noteSign(idOfLedger('another'), 'old name');
  await db.pool.query(
    `insert into budget_spend (account_id, budget_id, value, period_start, node, spent, calls)
     values (1, $1, 'swapped', to_timestamp(0), 'old name', 0.004, 1)`,
    [budgetId],
  );
  await startNode('new name', 'swapped');
  await until(async () => (await holderOf('new name')) === idOfLedger('swapped'));
  expect(await holderOf('old name')).toBe(idOfLedger('another'));
  const { rows } = await db.pool.query("select node from budget_spend where value = 'swapped'");
  expect(rows).toEqual([{ node: 'old name' }]);
}, 120_000);
