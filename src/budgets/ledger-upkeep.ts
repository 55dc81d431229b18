/** What the control process does with the ledger: publishes budgets, settles what proxies left, lists and tidies. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, writeBudgets } from './budget.ts';
import { asBigInt, BudgetLedger, inLedgerTransaction, prepareExact, type ScopeId, type Settlement } from './ledger.ts';

/** A scope without a period is forgotten when it was not used for this long. */
export const FORGOTTEN_AFTER_MS = 90 * 86_400_000;
/** Beyond it the longest unused are forgotten. */
export const MAX_SCOPES = 500_000;
/** A period's rows stay this long after its end, for calls that were admitted in it. */
const PERIOD_GRACE_MS = 2 * 86_400_000;
/** The longest period. */
const MAX_PERIOD_MS = 32 * 86_400_000;

export interface ScopeUse extends ScopeId {
  readonly spent: PicoUsd;
  readonly reserved: PicoUsd;
  /** What a run's calls have set for it; null for all other budgets. */
  readonly runLimit: PicoUsd | null;
  readonly usedMs: number;
}

export class LedgerUpkeep {
  readonly #db: DatabaseSync;
  readonly #ledger: BudgetLedger;
  readonly #list: StatementSync;
  readonly #raise: StatementSync;
  readonly #ofProcess: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#ledger = new BudgetLedger(db);
    this.#list = prepareExact(
      db,
      `select account, budget, value, period, spent, reserved, run_limit, used from scopes
       where account = ? and budget = ? and (?3 is null or value = ?3) and (?4 is null or period = ?4)
       order by spent + reserved desc limit ?5`,
    );
    this.#raise = prepareExact(
      db,
      `insert into scopes (account, budget, value, period, spent, reserved, run_limit, used)
       values (?, ?, ?, ?, ?, 0, ?, ?)
       on conflict do update set spent = max(spent, excluded.spent), run_limit = coalesce(run_limit, excluded.run_limit)`,
    );
    this.#ofProcess = prepareExact(db, 'select distinct call from holds where process = ?');
  }

  /** False for a file that was made just now. */
  hasBudgets(): boolean {
    return this.#ledger.version() > 0;
  }

  /** Does nothing when these are the budgets in force. */
  publish(budgets: readonly Budget[]): void {
    const text = writeBudgets(budgets);
    this.#db.prepare('update published set version = version + 1, budgets = ?1 where budgets <> ?1').run(text);
  }

  /** Settles the calls that hold something still; others were settled by their proxy. */
  settle(settlements: readonly Settlement[]): void {
    if (settlements.length > 0) this.#ledger.apply(settlements, [], '', 0);
  }

  /** Lets go what the calls of an ended process hold of which no record is left: they were never forwarded. */
  releaseProcess(process: string): void {
    const calls = this.#ofProcess.all(process).map(({ call }) => ({ callId: String(call), cost: 0n }));
    this.settle(calls);
  }

  list(
    scope: { readonly accountId: number; readonly budgetId: number },
    only: { readonly value?: string; readonly periodStartMs?: number },
    limit: number,
  ): readonly ScopeUse[] {
    const rows = this.#list.all(scope.accountId, scope.budgetId, only.value ?? null, only.periodStartMs ?? null, limit);
    return rows.map((row) => ({
      accountId: Number(row['account']),
      budgetId: Number(row['budget']),
      value: String(row['value']),
      periodStartMs: Number(row['period']),
      spent: asBigInt(row['spent']),
      reserved: asBigInt(row['reserved']),
      runLimit: row['run_limit'] === null ? null : asBigInt(row['run_limit']),
      usedMs: Number(row['used']),
    }));
  }

  /** Takes in what the database knows to be spent, which is more than the file says where the file was lost. */
  raiseSpent(uses: readonly Omit<ScopeUse, 'reserved'>[]): void {
    inLedgerTransaction(this.#db, () => {
      for (const { accountId, budgetId, value, periodStartMs, spent, runLimit, usedMs } of uses)
        this.#raise.run(accountId, budgetId, value, periodStartMs, spent, runLimit, usedMs);
    });
  }

  tidy(nowMs: number): void {
    this.#db
      .prepare(`delete from scopes where reserved = 0 and (period > 0 and period < ? or period = 0 and used < ?)`)
      .run(nowMs - MAX_PERIOD_MS - PERIOD_GRACE_MS, nowMs - FORGOTTEN_AFTER_MS);
    const { count } = this.#db.prepare('select count(*) as count from scopes').get() ?? {};
    const excess = Number(count) - MAX_SCOPES;
    if (excess <= 0) return;
    this.#db
      .prepare(
        `delete from scopes where (account, budget, value, period) in
           (select account, budget, value, period from scopes where reserved = 0 order by used limit ?)`,
      )
      .run(excess);
  }

  close(): void {
    this.#db.close();
  }
}
