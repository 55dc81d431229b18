/** Several nodes on one database, each with a ledger, a proxy, and the two loops of its control process; all in this process. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { BudgetLedger } from '../../../src/budgets/ledger.ts';
import { LEDGER_NAME, openLedgerDatabase } from '../../../src/budgets/ledger-file.ts';
import { type NodeBudgets, openNodeBudgets } from '../../../src/control/budgets/node-budgets.ts';
import { createGatewayKey } from '../../../src/keys/gateway-key.ts';
import { BudgetGate } from '../../../src/proxy/budget/budget-gate.ts';
import { type InProcessProxy, startProxy } from '../../proxy/start-proxy.ts';
import { FLAT_COSTS } from './flat-costs.ts';

export interface BudgetNode {
  readonly budgets: NodeBudgets;
  readonly proxy: InProcessProxy;
  readonly stop: () => Promise<void>;
}

export interface BudgetNodes {
  readonly key: string;
  readonly nodes: BudgetNode[];
  /** Its row among the nodes, as its first sign of life writes it. */
  readonly noteSign: (id: string, name: string) => Promise<void>;
  /** Of the data directory that has this ledger. */
  readonly idOf: (ledger: string) => string;
  readonly start: (name: string, ledger?: string) => Promise<BudgetNode>;
  /** A database that is away: nothing is exchanged. */
  readonly setAway: (isAway: boolean) => void;
  readonly stateOf: () => Promise<string>;
  readonly until: (what: () => Promise<boolean>) => Promise<void>;
  /** What all nodes have spent of a run, once nothing of it is reserved. */
  readonly spentOf: (run: string, budgetId: number) => Promise<bigint>;
  readonly stopAll: () => Promise<void>;
}

const LIMIT_MS = 10_000;

export function createBudgetNodes(pool: pg.Pool, origin: string): BudgetNodes {
  const log = pino({ level: 'silent' });
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-budget-nodes-'));
  const key = createGatewayKey();
  const nodes: BudgetNode[] = [];
  let isAway = false;

  const ids = new Map<string, string>();

  function idOf(ledger: string): string {
    const id = ids.get(ledger) ?? randomUUID();
    ids.set(ledger, id);
    return id;
  }

  async function noteSign(id: string, name: string): Promise<void> {
    await pool.query(
      `insert into nodes (id, name, host, version, run_id, started_at, seen_at, clock_skew_ms, own_settings, processes)
       values ($1, $2, 'host', '0.2.0', gen_random_uuid(), now(), now(), 0, '{}', '{}')
       on conflict (id) do update set name = excluded.name, seen_at = now(), stopped_at = null`,
      [id, name],
    );
  }

  async function stateOf(): Promise<string> {
    const { rows } = await pool.query<{ text: string }>(
      "select coalesce(string_agg(node || ' ' || state, ', ' order by node), '') as text from budget_nodes",
    );
    return rows[0]?.text ?? '';
  }

  async function until(what: () => Promise<boolean>): Promise<void> {
    const deadlineMs = performance.now() + LIMIT_MS;
    while (!(await what())) {
      if (performance.now() > deadlineMs) throw new Error(`not within ${LIMIT_MS} ms: ${await stateOf()}`);
      await sleep(20);
    }
  }

  return {
    key,
    nodes,
    noteSign,
    idOf,
    stateOf,
    until,
    setAway: (next) => {
      isAway = next;
    },
    start: async (name, ledger = name) => {
      const id = idOf(ledger);
      await noteSign(id, name);
      const file = join(dir, `${ledger}-${LEDGER_NAME}`);
      const budgets = openNodeBudgets({
        file,
        id,
        node: name,
        hasProxies: true,
        listProcesses: () => [name],
        pool,
        nowMs: Date.now,
        tidyMs: 500,
      });
      const gate = new BudgetGate(new BudgetLedger(openLedgerDatabase(file, 'process')), name, Date.now, log);
      const proxy = await startProxy(origin, {}, {}, undefined, undefined, {}, null, {
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
      const node: BudgetNode = {
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
    },
    spentOf: async (run, budgetId) => {
      const uses = async () => {
        const lists = nodes.map(({ budgets }) => budgets.list({ accountId: 1, budgetId }, { value: run }, 1));
        return (await Promise.all(lists)).flat();
      };
      await until(async () => (await uses()).every(({ reserved }) => reserved === 0n));
      return (await uses()).reduce((sum, { spent }) => sum + spent, 0n);
    },
    stopAll: async () => {
      await Promise.all(nodes.splice(0).map(({ stop }) => stop()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
