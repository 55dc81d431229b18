/** What the control process does with the ledger: publishes budgets, takes in what ended processes have spent, lists and tidies. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { greater, type PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, writeBudgets } from './budget.ts';
import { BudgetLedger, type ScopeId, type SharingMode } from './ledger.ts';
import { asBigInt, inLedgerTransaction, prepareExact } from './ledger-file.ts';

/** A scope without a period is forgotten when it was not used for this long. */
export const FORGOTTEN_AFTER_MS = 90 * 86_400_000;
/** Beyond it the longest unused are forgotten. */
export const MAX_SCOPES = 500_000;
/** A period's rows stay this long after its end, for calls that were admitted in it. */
const PERIOD_GRACE_MS = 2 * 86_400_000;
/** Providers keep a result for at most a month. */
const LATER_HOLDS_KEPT_MS = 32 * 86_400_000;
const MAX_LATER_HOLDS = 200_000;
/** The longest period. */
const MAX_PERIOD_MS = 32 * 86_400_000;

export interface ScopeUse extends ScopeId {
  readonly spent: PicoUsd;
  readonly reserved: PicoUsd;
  /** What a run's calls have set for it; null for all other budgets. */
  readonly runLimit: PicoUsd | null;
  readonly usedMs: number;
}

/** What the stored calls of a process have spent. */
export interface ProcessSpend extends ScopeId {
  readonly spent: PicoUsd;
  /** As in `Standing`. */
  readonly refunded: PicoUsd;
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

/** A process that lives answers within its look at the ledger; one that stands still is not waited for. */
const ANSWER_LIMIT_MS = 100;
const ANSWER_LOOK_MS = 5;

const SCOPE = 'account, budget, value, period';
const IS_SCOPE = 'account = ? and budget = ? and value = ? and period = ?';
const IS_SAME = 's.account = x.account and s.budget = x.budget and s.value = x.value and s.period = x.period';
/** What this node may have spent of a scope by now. */
const USED = `x.spent + coalesce((select sum(s.granted) from shares s where ${IS_SAME}), 0)`;

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
  #askedAtTidy = 0;

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#ledger = new BudgetLedger(db);
    this.#list = prepareExact(
      db,
      `select account, budget, value, period, run_limit, used,
         x.spent + coalesce((select sum(s.spent) from shares s where ${IS_SAME}), 0) as all_spent,
         coalesce((select sum(case when s.process in (select value from json_each(?6)) then s.reserved
           else s.granted - s.spent end) from shares s where ${IS_SAME}), 0) as all_reserved
       from scopes x
       where account = ?1 and budget = ?2 and (?3 is null or value = ?3) and (?4 is null or period = ?4)
       order by all_spent + all_reserved desc limit ?5`,
    );
    this.#raise = prepareExact(
      db,
      `insert into scopes (account, budget, value, period, spent, run_limit, used) values (?, ?, ?, ?, ?, ?, ?)
       on conflict do update set spent = max(spent, excluded.spent), run_limit = coalesce(run_limit, excluded.run_limit)`,
    );
  }

  /** Which database's sums stand here; null in a file that was made just now. */
  readSumsId(nowMs: number): string | null {
    return this.#ledger.readSignal(nowMs).sumsId;
  }

  noteSumsId(sumsId: string): void {
    this.#prepared('update sharing set sums_id = ?').run(sumsId);
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

  /**
   * Puts what the stored calls of an ended process have spent in the place of what it was granted: what it held for calls
   * that were never forwarded is free. Once; a second time does nothing.
   */
  takeInProcess(process: string, spends: readonly ProcessSpend[]): void {
    const stored = new Map(spends.map((spend) => [JSON.stringify(namesOf(spend)), spend]));
    inLedgerTransaction(this.#db, () => {
      const rows = this.#prepared(`select ${SCOPE}, spent, refunded from shares where process = ?`).all(process);
      const add = this.#prepared(
        `insert into scopes (account, budget, value, period, spent, used) values (?, ?, ?, ?, ?, 0)
         on conflict do update set spent = spent + excluded.spent`,
      );
      for (const row of rows) {
        const names = namesOf(toScope(row));
        const { spent = 0n, refunded = 0n } = stored.get(JSON.stringify(names)) ?? {};
        const wrote = { spent: asBigInt(row['spent']), refunded: asBigInt(row['refunded']) };
        // A record may be lost, and what was stored last may not be written here: of what adds and of what takes off, each on
        // its own, whichever knows more is right.
        const added = greater(spent + refunded, wrote.spent + wrote.refunded);
        add.run(...names, added - greater(refunded, wrote.refunded));
      }
      this.#prepared('delete from shares where process = ?').run(process);
      this.#prepared('delete from readers where process = ?').run(process);
    });
  }

  /** Processes with shares. */
  listProcesses(): readonly string[] {
    return this.#prepared('select distinct process from shares')
      .all()
      .map((row) => String(row['process']));
  }

  /** Waits until these processes have written how they stand; with scopes, until they have given back what they do not use of these. */
  async ask(processes: readonly string[], scopes: readonly ScopeId[] | null = null): Promise<void> {
    const only = scopes === null ? '' : `and ${IS_SCOPE}`;
    const pending = this.#prepared(
      `select 1 from shares where granted > spent and is_silent = 0 and answered < ?
         and process in (select value from json_each(?)) ${only} limit 1`,
    );
    const living = JSON.stringify(processes);
    const isPending = (scope: ScopeId | null, number: number) =>
      pending.get(number, living, ...(scope === null ? [] : namesOf(scope))) !== undefined;
    let left = (scopes ?? [null]).filter((scope) => isPending(scope, Number.MAX_SAFE_INTEGER));
    if (left.length === 0) return;
    const numbers = this.#ledger.inTransaction(() =>
      left.map((scope) => (scope === null ? this.#ledger.askAll() : this.#ledger.ask(scope))),
    );
    // A process that looks answers all that was asked by then.
    const last = Math.max(...numbers);
    const deadlineMs = performance.now() + ANSWER_LIMIT_MS;
    for (;;) {
      left = left.filter((scope) => isPending(scope, last));
      if (left.length === 0 || performance.now() >= deadlineMs) return;
      await sleep(ANSWER_LOOK_MS);
    }
  }

  /** `living`: what other processes hold counts as reserved until their records are stored. */
  list(
    scope: { readonly accountId: number; readonly budgetId: number },
    only: { readonly value?: string; readonly periodStartMs?: number },
    limit: number,
    living: readonly string[],
  ): readonly ScopeUse[] {
    const { accountId, budgetId } = scope;
    const { value = null, periodStartMs = null } = only;
    const rows = this.#list.all(accountId, budgetId, value, periodStartMs, limit, JSON.stringify(living));
    return rows.map((row) => ({
      accountId: Number(row['account']),
      budgetId: Number(row['budget']),
      value: String(row['value']),
      periodStartMs: Number(row['period']),
      spent: asBigInt(row['all_spent']),
      reserved: asBigInt(row['all_reserved']),
      runLimit: row['run_limit'] === null ? null : asBigInt(row['run_limit']),
      usedMs: Number(row['used']),
    }));
  }

  mode(nowMs: number): SharingMode {
    return this.#ledger.readSignal(nowMs).mode;
  }

  /** Until then no other node takes this one to be lost, if it is alone. */
  setAloneUntil(untilMs: number): void {
    this.#prepared('update sharing set alone_until = ?').run(Math.floor(untilMs));
  }

  setMode(mode: SharingMode): void {
    this.#db.prepare('update sharing set mode = ?').run(mode);
  }

  /** From now on only what is used already may be spent, until more is leased. Returns what is used of each scope. */
  beginSharing(): readonly HeldScope[] {
    return inLedgerTransaction(this.#db, () => {
      this.setMode('sharing');
      return this.#holdUsed();
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
  beginAlone(elsewhere: readonly HeldScope[], nowMs: number): void {
    inLedgerTransaction(this.#db, () => {
      this.#db.exec('update scopes set elsewhere = 0');
      this.#setElsewhere(elsewhere, nowMs);
      this.setMode('sole');
    });
  }

  /** Calls of nodes that left may be stored later. */
  noteElsewhere(elsewhere: readonly HeldScope[], nowMs: number): void {
    inLedgerTransaction(this.#db, () => this.#setElsewhere(elsewhere, nowMs));
  }

  /** As used now, so that it is not forgotten before what this node has used itself. */
  #setElsewhere(elsewhere: readonly HeldScope[], nowMs: number): void {
    const set = this.#prepared(
      `insert into scopes (account, budget, value, period, elsewhere, used) values (?, ?, ?, ?, ?, ?)
       on conflict do update set elsewhere = excluded.elsewhere`,
    );
    for (const { accountId, budgetId, value, periodStartMs, held } of elsewhere)
      set.run(accountId, budgetId, value, periodStartMs, held, nowMs);
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
      `insert into scopes (account, budget, value, period, held, used) values (?, ?, ?, ?, ?, ?)
       on conflict do update set held = excluded.held`,
    ).run(...namesOf(scope), held, nowMs);
  }

  /** Keeps what is used, and returns it: the rest may be leased to others. */
  giveBack(scope: ScopeId): PicoUsd {
    const row = this.#prepared(`update scopes as x set held = min(held, ${USED}) where ${IS_SCOPE} returning held`).get(
      ...namesOf(scope),
    );
    return row === undefined ? 0n : asBigInt(row['held']);
  }

  listHeldOf(budgetId: number): readonly HeldScope[] {
    return this.#prepared(`select ${SCOPE}, held from scopes x where budget = ? and held > ${USED}`)
      .all(budgetId)
      .map(toHeld);
  }

  /** At the end of the process: other nodes may lease what is not used once this one has stopped. */
  keepOnlyUsed(): void {
    this.#db.exec(`update scopes as x set held = min(held, ${USED}) where (select mode from sharing) = 'sharing'`);
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

  /**
   * Puts what the database knows this node to have spent in the place of what the file says. Processes that were not taken
   * in go on counting for themselves, what their calls hold included: what is `stored` of them is taken off here, so a sum
   * may be below zero beside theirs. Returns what is used of each scope, which is all that the node holds then.
   */
  replaceSpent(
    uses: readonly Omit<ScopeUse, 'reserved'>[],
    stored: readonly (ProcessSpend & { readonly process: string })[],
  ): readonly HeldScope[] {
    return inLedgerTransaction(this.#db, () => {
      // What was wanted of other nodes was wanted beside sums of before; a call that still waits asks again. What was held
      // for later results may not be in these sums, so that nothing may be taken off for it.
      this.#db.exec('delete from wants; delete from later_holds; update scopes set spent = 0, elsewhere = 0');
      const put = this.#prepared(
        `insert into scopes (account, budget, value, period, spent, run_limit, used) values (?, ?, ?, ?, ?, ?, ?)
         on conflict do update set spent = excluded.spent, run_limit = coalesce(run_limit, excluded.run_limit)`,
      );
      for (const { accountId, budgetId, value, periodStartMs, spent, runLimit, usedMs } of uses)
        put.run(accountId, budgetId, value, periodStartMs, spent, runLimit, usedMs);
      const takeOff = this.#prepared(
        `update scopes as x set spent = spent - ? where ${IS_SCOPE}
           and exists (select 1 from shares s where ${IS_SAME} and s.process = ?)`,
      );
      for (const { process, spent, ...scope } of stored) takeOff.run(spent, ...namesOf(scope), process);
      return this.#holdUsed();
    });
  }

  #holdUsed(): readonly HeldScope[] {
    this.#db.exec(`update scopes as x set held = ${USED}`);
    return this.#prepared(`select ${SCOPE}, held from scopes where held > 0`).all().map(toHeld);
  }

  tidy(nowMs: number): void {
    const isOpen = `exists (select 1 from shares s where s.granted > s.spent and ${IS_SAME})`;
    this.#db
      .prepare(`delete from scopes as x where (period > 0 and period < ? or period = 0 and used < ?) and not ${isOpen}`)
      .run(nowMs - MAX_PERIOD_MS - PERIOD_GRACE_MS, nowMs - FORGOTTEN_AFTER_MS);
    const { count } = this.#db.prepare('select count(*) as count from scopes').get() ?? {};
    const excess = Number(count) - MAX_SCOPES;
    if (excess > 0)
      this.#db
        .prepare(
          `delete from scopes where (account, budget, value, period) in
             (select account, budget, value, period from scopes x where not ${isOpen} order by used limit ?)`,
        )
        .run(excess);
    this.#db.exec(
      'delete from shares where (account, budget, value, period) not in (select account, budget, value, period from scopes)',
    );
    this.#prepared(
      `delete from later_holds where noted < ?
         or noted <= (select noted from later_holds order by noted desc limit 1 offset ${MAX_LATER_HOLDS})`,
    ).run(nowMs - LATER_HOLDS_KEPT_MS);
    // Processes look many times in between.
    this.#db.prepare('delete from asks where number <= ?').run(this.#askedAtTidy);
    this.#askedAtTidy = this.#ledger.readSignal(nowMs).asked;
  }

  close(): void {
    this.#db.close();
  }
}
