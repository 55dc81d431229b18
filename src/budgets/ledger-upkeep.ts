/** What the control process does with the ledger: publishes budgets, settles what proxies left, lists and tidies. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, writeBudgets } from './budget.ts';
import {
  asBigInt,
  BudgetLedger,
  inLedgerTransaction,
  prepareExact,
  type ScopeId,
  type Settlement,
  type SharingMode,
} from './ledger.ts';

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

export interface HeldScope extends ScopeId {
  readonly held: PicoUsd;
}

export interface Want extends ScopeId {
  /** What this node has to hold in all. */
  readonly need: PicoUsd;
  readonly limit: PicoUsd;
  readonly isUrgent: boolean;
  readonly askedMs: number;
}

const SCOPE = 'account, budget, value, period';
const IS_SCOPE = 'account = ? and budget = ? and value = ? and period = ?';

type Row = Record<string, unknown>;

function toScope(row: Row): ScopeId {
  return {
    accountId: Number(row['account']),
    budgetId: Number(row['budget']),
    value: String(row['value']),
    periodStartMs: Number(row['period']),
  };
}

function toHeld(row: Row): HeldScope {
  return { ...toScope(row), held: asBigInt(row['held']) };
}

function namesOf({ accountId, budgetId, value, periodStartMs }: ScopeId): [number, number, string, number] {
  return [accountId, budgetId, value, periodStartMs];
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

  /** Whether calls of these processes come under the published budgets. */
  isReadBy(processes: readonly string[]): boolean {
    const rows = this.#prepared('select process from readers where version = (select version from published)').all();
    const readers = new Set(rows.map((row) => row['process']));
    return processes.every((process) => readers.has(process));
  }

  /** Settles the calls that hold something still; others were settled by their proxy. */
  settle(settlements: readonly Settlement[]): void {
    if (settlements.length > 0) this.#ledger.apply(settlements, [], '', 0);
  }

  /** Lets go what the calls of an ended process hold of which no record is left: they were never forwarded. */
  releaseProcess(process: string): void {
    const calls = this.#ofProcess.all(process).map(({ call }) => ({ callId: String(call), cost: 0n }));
    this.settle(calls);
    this.#prepared('delete from readers where process = ?').run(process);
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

  mode(): SharingMode {
    return this.#ledger.mode();
  }

  setMode(mode: SharingMode): void {
    this.#db.prepare('update sharing set mode = ?').run(mode);
  }

  /** From now on only what is used already may be spent, until more is leased. Returns what is held of each scope. */
  beginSharing(): readonly HeldScope[] {
    return inLedgerTransaction(this.#db, () => {
      this.#db.exec(`update scopes set held = spent + reserved where (select mode from sharing) <> 'sharing'`);
      this.setMode('sharing');
      return this.#prepared(`select ${SCOPE}, held from scopes where held > 0`).all().map(toHeld);
    });
  }

  /** Notes what this node is called now. Returns what it was called before: leases and sums under these are its own. */
  noteName(name: string): readonly string[] {
    this.#prepared('insert into names values (?) on conflict do nothing').run(name);
    return this.#prepared('select name from names where name <> ?')
      .all(name)
      .map((row) => String(row['name']));
  }

  /** Others have left: all of every budget is this node's, but for what they had. */
  beginAlone(elsewhere: readonly HeldScope[]): void {
    inLedgerTransaction(this.#db, () => {
      this.#db.exec('update scopes set elsewhere = 0');
      const set = this.#prepared(
        `insert into scopes (account, budget, value, period, spent, reserved, elsewhere, used)
         values (?, ?, ?, ?, 0, 0, ?, 0) on conflict do update set elsewhere = excluded.elsewhere`,
      );
      for (const { accountId, budgetId, value, periodStartMs, held } of elsewhere)
        set.run(accountId, budgetId, value, periodStartMs, held);
      this.setMode('sole');
    });
  }

  listWants(): readonly Want[] {
    return this.#prepared(`select ${SCOPE}, need, amount, is_urgent, asked from wants`)
      .all()
      .map((row) => ({
        ...toScope(row),
        need: asBigInt(row['need']),
        limit: asBigInt(row['amount']),
        isUrgent: Number(row['is_urgent']) === 1,
        askedMs: Number(row['asked']),
      }));
  }

  dropWant(scope: ScopeId): void {
    this.#prepared(`delete from wants where ${IS_SCOPE}`).run(...namesOf(scope));
  }

  setHeld(scope: ScopeId, held: PicoUsd, nowMs: number): void {
    this.#prepared(
      `insert into scopes (account, budget, value, period, spent, reserved, held, used) values (?, ?, ?, ?, 0, 0, ?, ?)
       on conflict do update set held = excluded.held`,
    ).run(...namesOf(scope), held, nowMs);
  }

  /** Keeps what is used, and returns it: the rest may be leased to others. */
  giveBack(scope: ScopeId): PicoUsd {
    const row = this.#prepared(
      `update scopes set held = min(held, spent + reserved) where ${IS_SCOPE} returning held`,
    ).get(...namesOf(scope));
    return row === undefined ? 0n : asBigInt(row['held']);
  }

  listHeldOf(budgetId: number): readonly HeldScope[] {
    return this.#prepared(`select ${SCOPE}, held from scopes where budget = ? and held > spent + reserved`)
      .all(budgetId)
      .map(toHeld);
  }

  /** At the end of the process: other nodes may lease what is not used once this one has stopped. */
  keepOnlyUsed(): void {
    this.#db.exec("update scopes set held = min(held, spent + reserved) where (select mode from sharing) = 'sharing'");
  }

  #prepared(sql: string): StatementSync {
    return prepareExact(this.#db, sql);
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
