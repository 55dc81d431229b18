/** Adds what calls have spent to the sums of their budgets, in the transaction that stores the calls. */
import type pg from 'pg';
import type { CallBegin } from '../../vocabulary/call-record.ts';
import { formatUsd, type PicoUsd, parseUsd } from '../../vocabulary/usd.ts';
import { storableJson } from '../store/copy-text.ts';

/** An ended call that came under budgets. */
export interface BudgetedEnd {
  readonly begin: CallBegin;
  /** Whose record it is: the name of its directory in the spool. */
  readonly process: string;
  /** Null: unknown, so that each budget counts what it held. */
  readonly cost: PicoUsd | null;
}

export interface StoredEnd extends BudgetedEnd {
  /** It replaces an interrupted row, which has counted all that was held. */
  readonly isReplacement: boolean;
}

/** Two batches add in the same order, so that neither waits for the other. */
const ADD = `
  insert into budget_spend as b (account_id, budget_id, value, period_start, node, spent, calls, run_limit)
  select account_id, budget_id, value, to_timestamp(period_ms / 1000.0), node, sum(spent), sum(calls), min(run_limit)
  from jsonb_to_recordset($1::jsonb) as x (account_id int4, budget_id int4, value text, period_ms float8, node text,
    spent numeric, calls int8, run_limit numeric)
  group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4, 5
  on conflict (account_id, budget_id, value, period_start, node) do update set spent = b.spent + excluded.spent,
    calls = b.calls + excluded.calls, run_limit = least(b.run_limit, excluded.run_limit), updated_at = now()`;

/** The same for each process, until the ledger has taken it in: it has to know what a killed one has spent. */
const ADD_TO_PROCESS = `
  insert into budget_process_spend as b (process, account_id, budget_id, value, period_start, spent, refunded)
  select process, account_id, budget_id, value, to_timestamp(period_ms / 1000.0), sum(spent), sum(refunded)
  from jsonb_to_recordset($1::jsonb) as x (process text, account_id int4, budget_id int4, value text, period_ms float8,
    spent numeric, refunded numeric)
  group by 1, 2, 3, 4, 5
  order by 1, 2, 3, 4, 5
  on conflict (process, account_id, budget_id, value, period_start) do update set spent = b.spent + excluded.spent,
    refunded = b.refunded + excluded.refunded, updated_at = now()`;

interface Sum {
  readonly account_id: number;
  readonly budget_id: number;
  readonly value: string;
  readonly period_ms: number;
  readonly node: string;
  readonly process: string;
  spent: PicoUsd;
  refunded: PicoUsd;
  calls: number;
  run_limit: PicoUsd | null;
}

export async function addSpend(client: pg.ClientBase, ends: readonly StoredEnd[]): Promise<void> {
  const sums = new Map<string, Sum>();
  for (const end of ends) addEnd(sums, end);
  if (sums.size === 0) return;
  const rows = [...sums.values()].map((sum) => ({
    ...sum,
    spent: formatUsd(sum.spent),
    refunded: formatUsd(sum.refunded),
    run_limit: sum.run_limit === null ? null : formatUsd(sum.run_limit),
  }));
  const values = [storableJson(rows)];
  await client.query({ name: 'add_spend', text: ADD, values });
  await client.query({ name: 'add_process_spend', text: ADD_TO_PROCESS, values });
}

function addEnd(sums: Map<string, Sum>, { begin, process, cost, isReplacement }: StoredEnd): void {
  for (const { budgetId, value, periodStartMs, amount, runLimit } of begin.budgets ?? []) {
    const name = JSON.stringify([begin.accountId, budgetId, value, periodStartMs, begin.node, process]);
    const sum = sums.get(name) ?? {
      account_id: begin.accountId,
      budget_id: budgetId,
      value,
      period_ms: periodStartMs,
      node: begin.node,
      process,
      spent: 0n,
      refunded: 0n,
      calls: 0,
      run_limit: null,
    };
    const held = parseUsd(amount);
    sum.spent += (cost ?? held) - (isReplacement ? held : 0n);
    if (cost !== null && cost < 0n) sum.refunded -= cost;
    sum.calls += isReplacement ? 0 : 1;
    const limit = runLimit === undefined ? null : parseUsd(runLimit);
    if (limit !== null && (sum.run_limit === null || limit < sum.run_limit)) sum.run_limit = limit;
    sums.set(name, sum);
  }
}
