/**
 * The ledger of budgets of one node, as a proxy process uses it: a file in the data directory that the node's processes
 * share. A process takes a share of a scope's money from it and spends that in its memory (`process-shares.ts`). Why a
 * file and not the memory of one of them: docs/decisions/0058-budgets-that-hold.md.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, readBudgets } from './budget.ts';
import { asBigInt, inLedgerTransaction, prepareExact } from './ledger-file.ts';

/** One budget's money for one run, key, person … in one period. */
export interface ScopeId {
  readonly accountId: number;
  readonly budgetId: number;
  readonly value: string;
  /** 0 for `once`. */
  readonly periodStartMs: number;
}

export interface Claim extends ScopeId {
  /** Null for a run's own budget where this call does not set it: then as a call before has set it, if one has. */
  readonly limit: PicoUsd | null;
  /** A soft budget refuses nothing. */
  readonly isHard: boolean;
  /** 0 for a call of which nothing is known and that is let through while anything is left. */
  readonly amount: PicoUsd;
  /** It asks for no money, whatever is left: what its call turns out to cost is only counted. */
  readonly onlyCounts?: true;
}

export interface PublishedBudgets {
  readonly version: number;
  readonly budgets: readonly Budget[];
}

export interface Scope {
  readonly spent: PicoUsd;
  readonly runLimit: PicoUsd | null;
  readonly held: PicoUsd;
  readonly elsewhere: PicoUsd;
}

/** How a process stands with a scope. It may spend what it was granted. */
export interface Standing {
  readonly granted: PicoUsd;
  /** Below 0 where fetched results took off more than was spent here: another process had held it. */
  readonly spent: PicoUsd;
  /** What fetched results have taken off in all; `spent` is without it. */
  readonly refunded: PicoUsd;
  readonly reserved: PicoUsd;
}

export interface WrittenShare extends Standing {
  readonly process: string;
  readonly answered: number;
  readonly isSilent: boolean;
}

export type SharingMode = 'sole' | 'sharing' | 'waiting';

export interface Signal {
  readonly mode: SharingMode;
  /** Raised when processes shall write how they stand. */
  readonly asked: number;
  /** Another one when the database's sums were put in the place of the ledger's, as after a restore. */
  readonly sumsId: string | null;
}

const UNUSED: Scope = Object.freeze({ spent: 0n, runLimit: null, held: 0n, elsewhere: 0n });
const IS_SCOPE = 'account = ? and budget = ? and value = ? and period = ?';

export class BudgetLedger {
  readonly #db: DatabaseSync;
  readonly #readScope: StatementSync;
  readonly #noteUse: StatementSync;
  readonly #readShares: StatementSync;
  readonly #writeShare: StatementSync;
  readonly #silence: StatementSync;
  readonly #signal: StatementSync;
  readonly #raise: StatementSync;
  readonly #ask: StatementSync;
  readonly #asks: StatementSync;
  readonly #want: StatementSync;
  readonly #version: StatementSync;
  readonly #budgets: StatementSync;
  readonly #noteRead: StatementSync;
  readonly #noteLaterHold: StatementSync;
  readonly #readLaterHold: StatementSync;
  readonly #takeLaterHold: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    const prepare = (sql: string) => prepareExact(db, sql);
    this.#readScope = prepare(`select spent, run_limit, held, elsewhere from scopes where ${IS_SCOPE}`);
    this.#noteUse = prepare(
      `insert into scopes (account, budget, value, period, run_limit, used) values (?, ?, ?, ?, ?, ?)
       on conflict do update set run_limit = excluded.run_limit, used = excluded.used`,
    );
    this.#readShares = prepare(
      `select process, granted, spent, refunded, reserved, answered, is_silent from shares where ${IS_SCOPE}`,
    );
    this.#writeShare = prepare(
      `insert into shares (account, budget, value, period, process, granted, spent, refunded, reserved, answered)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set granted = excluded.granted, spent = excluded.spent, refunded = excluded.refunded,
         reserved = excluded.reserved, answered = excluded.answered, is_silent = 0`,
    );
    this.#silence = prepare(`update shares set is_silent = 1 where ${IS_SCOPE} and process = ?`);
    this.#signal = prepare('select mode, asked, alone_until, sums_id from sharing');
    this.#raise = prepare('update sharing set asked = asked + 1 returning asked');
    this.#ask = prepare(`insert into asks values (?, ?, ?, ?, ?) on conflict do update set number = excluded.number`);
    this.#asks = prepare('select account, budget, value, period from asks where number > ?');
    this.#want = prepare(
      `insert into wants values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set need = max(need, excluded.need), amount = excluded.amount,
         is_urgent = max(is_urgent, excluded.is_urgent), asked = excluded.asked`,
    );
    this.#version = prepare('select version from published');
    this.#budgets = prepare('select version, budgets from published');
    this.#noteRead = prepare('insert or replace into readers values (?, ?)');
    this.#noteLaterHold = prepare('insert into later_holds values (?, ?, ?, 0) on conflict do nothing');
    this.#readLaterHold = prepare('select held, is_taken from later_holds where result = ?');
    this.#takeLaterHold = prepare('update later_holds set is_taken = 1 where result = ?');
  }

  /** Changes with every publication. */
  version(): number {
    return Number(this.#version.get()?.['version'] ?? 0);
  }

  readBudgets(): PublishedBudgets {
    const row = this.#budgets.get();
    return { version: Number(row?.['version'] ?? 0), budgets: readBudgets(String(row?.['budgets'] ?? '[]')) };
  }

  /** From now on calls of the process come under these budgets. */
  noteRead(process: string, version: number): void {
    this.#noteRead.run(process, version);
  }

  inTransaction<T>(work: () => T): T {
    return inLedgerTransaction(this.#db, work);
  }

  readSignal(nowMs: number): Signal {
    const row = this.#signal.get();
    const mode = row?.['mode'];
    const aloneUntil = row?.['alone_until'];
    const isAlone = aloneUntil == null || nowMs < Number(aloneUntil);
    return {
      mode: mode === 'sharing' ? mode : mode === 'waiting' || !isAlone ? 'waiting' : 'sole',
      asked: Number(row?.['asked'] ?? 0),
      sumsId: row?.['sums_id'] == null ? null : String(row['sums_id']),
    };
  }

  readScope(scope: ScopeId): Scope {
    const row = this.#readScope.get(...namesOf(scope));
    if (row === undefined) return UNUSED;
    const { spent, run_limit: runLimit, held, elsewhere } = row;
    return {
      spent: asBigInt(spent),
      runLimit: runLimit === null ? null : asBigInt(runLimit),
      held: asBigInt(held),
      elsewhere: asBigInt(elsewhere),
    };
  }

  noteUse(scope: ScopeId, runLimit: PicoUsd | null, nowMs: number): void {
    this.#noteUse.run(...namesOf(scope), runLimit, Math.floor(nowMs));
  }

  readShares(scope: ScopeId): readonly WrittenShare[] {
    return this.#readShares.all(...namesOf(scope)).map((row) => ({
      process: String(row['process']),
      granted: asBigInt(row['granted']),
      spent: asBigInt(row['spent']),
      refunded: asBigInt(row['refunded']),
      reserved: asBigInt(row['reserved']),
      answered: Number(row['answered']),
      isSilent: Number(row['is_silent']) === 1,
    }));
  }

  writeShare(
    scope: ScopeId,
    process: string,
    { granted, spent, refunded, reserved }: Standing,
    answered: number,
  ): void {
    this.#writeShare.run(...namesOf(scope), process, granted, spent, refunded, reserved, answered);
  }

  /** Whoever asks does not wait for this process again, until it writes. */
  silence(scope: ScopeId, process: string): void {
    this.#silence.run(...namesOf(scope), process);
  }

  /** Asks the other processes for what they do not use. Their shares say when they have answered this number. */
  ask(scope: ScopeId): number {
    const number = this.askAll();
    this.#ask.run(...namesOf(scope), number);
    return number;
  }

  /** Asks all processes to write how they stand. */
  askAll(): number {
    return Number(this.#raise.get()?.['asked']);
  }

  listAsked(since: number): readonly ScopeId[] {
    return this.#asks.all(since).map((row) => ({
      accountId: Number(row['account']),
      budgetId: Number(row['budget']),
      value: String(row['value']),
      periodStartMs: Number(row['period']),
    }));
  }

  /** Control asks the other nodes. `need`: what this node has to hold in all. */
  askNodes(scope: ScopeId, limit: PicoUsd, need: PicoUsd, isUrgent: boolean, nowMs: number): void {
    this.#want.run(...namesOf(scope), need, limit, isUrgent ? 1 : 0, Math.floor(nowMs));
  }

  /** What was held for a result that is fetched later. */
  noteLaterHold(result: string, held: string, nowMs: number): void {
    this.#noteLaterHold.run(result, held, Math.floor(nowMs));
  }

  /** Null: no process of this node has noted it. `isTaken`: one has taken it before. */
  takeLaterHold(result: string): { readonly held: string; readonly isTaken: boolean } | null {
    return this.inTransaction(() => {
      const row = this.#readLaterHold.get(result);
      if (row === undefined) return null;
      this.#takeLaterHold.run(result);
      return { held: String(row['held']), isTaken: Number(row['is_taken']) === 1 };
    });
  }

  close(): void {
    this.#db.close();
  }
}

function namesOf({ accountId, budgetId, value, periodStartMs }: ScopeId): SQLInputValue[] {
  return [accountId, budgetId, value, periodStartMs];
}
