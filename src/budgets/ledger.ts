/**
 * The ledger of budgets of one node: an SQLite file in the data directory that its processes share. A proxy reserves in
 * it before it forwards a call and settles when the call has ended; both are one short transaction without a wait for
 * the disk. What a killed process leaves reserved stays so until the records in its spool say what became of the calls.
 * Why a file and not memory: docs/decisions/0058-budgets-that-hold.md.
 */
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import type { PicoUsd } from '../vocabulary/usd.ts';
import { type Budget, readBudgets } from './budget.ts';
import { LEDGER_SCHEMA } from './ledger-schema.ts';

export const LEDGER_NAME = 'budgets.db';

/** Another process holds the file for microseconds; this is for a machine that stands still. */
const BUSY_TIMEOUT_MS = 2_000;

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
}

export interface ReserveRequest {
  readonly callId: string;
  readonly claims: readonly Claim[];
}

export type ReserveAnswer =
  | { readonly kind: 'reserved'; readonly held: readonly Claim[]; readonly isOverSoft: boolean }
  | {
      readonly kind: 'refused';
      readonly claim: Claim;
      readonly limit: PicoUsd;
      readonly spent: PicoUsd;
      readonly reserved: PicoUsd;
      /** Other nodes hold what this one lacks. */
      readonly isShared?: boolean;
    }
  /** More has to be asked of the other nodes, or this one may not spend yet. */
  | { readonly kind: 'short'; readonly refusal: Extract<ReserveAnswer, { readonly kind: 'refused' }> | null };

export interface Settlement {
  readonly callId: string;
  /** Null: nobody knows, and all that was reserved counts as spent. */
  readonly cost: PicoUsd | null;
}

export interface PublishedBudgets {
  readonly version: number;
  readonly budgets: readonly Budget[];
}

interface Scope {
  readonly spent: bigint;
  readonly reserved: bigint;
  readonly runLimit: bigint | null;
  readonly held: bigint;
  readonly elsewhere: bigint;
}

const UNUSED: Scope = Object.freeze({ spent: 0n, reserved: 0n, runLimit: null, held: 0n, elsewhere: 0n });

export type SharingMode = 'sole' | 'sharing' | 'waiting';

/** Bytes that are no database of SQLite's, or not a whole one any more. */
const DAMAGED = new Set([11, 26]);

/**
 * Opens the file, and makes it when it is missing. A damaged one is put aside: what the stored calls have spent is taken
 * in again from the database. Throws when it cannot be used.
 */
export function openLedgerDatabase(file: string, durability: 'process' | 'power'): DatabaseSync {
  try {
    return openDatabase(file, durability);
  } catch (error) {
    if (!isDamaged(error)) throw error;
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, `${file}.damaged${end}`);
    return openDatabase(file, durability);
  }
}

function isDamaged(error: unknown): boolean {
  return (
    error instanceof Error &&
    'errcode' in error &&
    typeof error.errcode === 'number' &&
    DAMAGED.has(error.errcode & 0xff)
  );
}

function openDatabase(file: string, durability: 'process' | 'power'): DatabaseSync {
  // Made here, since SQLite would let everybody read it; what it puts beside it has the same mode.
  closeSync(openSync(file, 'a', 0o600));
  const db = new DatabaseSync(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec(`pragma journal_mode = wal; pragma synchronous = ${durability === 'power' ? 'normal' : 'off'};`);
    // On a full disk a ledger that is there can still be opened.
    const isMade = db.prepare("select name from sqlite_master where name = 'holds'").get();
    if (isMade === undefined) db.exec(LEDGER_SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

export function prepareExact(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReadBigInts(true);
  return statement;
}

/** Runs `work` as one transaction, which no other process's comes between. */
export function inLedgerTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('begin immediate');
  try {
    const result = work();
    db.exec('commit');
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec('rollback');
    throw error;
  }
}

/** What a proxy does with the ledger. */
export class BudgetLedger {
  readonly #db: DatabaseSync;
  readonly #readScope: StatementSync;
  readonly #reserve: StatementSync;
  readonly #hold: StatementSync;
  readonly #takeHolds: StatementSync;
  readonly #settle: StatementSync;
  readonly #mode: StatementSync;
  readonly #want: StatementSync;
  readonly #version: StatementSync;
  readonly #budgets: StatementSync;
  readonly #noteRead: StatementSync;

  constructor(db: DatabaseSync) {
    this.#db = db;
    const prepare = (sql: string) => prepareExact(db, sql);
    this.#readScope = prepare(
      `select spent, reserved, run_limit, held, elsewhere from scopes
       where account = ? and budget = ? and value = ? and period = ?`,
    );
    this.#reserve = prepare(
      `insert into scopes (account, budget, value, period, spent, reserved, run_limit, used)
       values (?, ?, ?, ?, 0, ?, ?, ?)
       on conflict do update set reserved = reserved + excluded.reserved, run_limit = excluded.run_limit,
         used = excluded.used`,
    );
    this.#hold = prepare('insert into holds values (?, ?, ?, ?, ?, ?, ?)');
    this.#takeHolds = prepare('delete from holds where call = ? returning account, budget, value, period, amount');
    this.#settle = prepare(
      `update scopes set spent = spent + ?, reserved = reserved - ?
       where account = ? and budget = ? and value = ? and period = ?`,
    );
    this.#mode = prepare('select mode from sharing');
    this.#want = prepare(
      `insert into wants values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set need = max(need, excluded.need), amount = excluded.amount,
         is_urgent = max(is_urgent, excluded.is_urgent), asked = excluded.asked`,
    );
    this.#version = prepare('select version from published');
    this.#budgets = prepare('select version, budgets from published');
    this.#noteRead = prepare('insert or replace into readers values (?, ?)');
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

  /** Settles, then reserves, in one transaction: each request in full or not at all. */
  apply(
    settlements: readonly Settlement[],
    requests: readonly ReserveRequest[],
    process: string,
    nowMs: number,
  ): readonly ReserveAnswer[] {
    return inLedgerTransaction(this.#db, () => {
      for (const settlement of settlements) this.#applySettlement(settlement);
      const mode = this.mode();
      return requests.map((request) => this.#applyRequest(request, mode, process, nowMs));
    });
  }

  #applySettlement({ callId, cost }: Settlement): void {
    for (const { amount, account, budget, value, period } of this.#takeHolds.all(callId)) {
      this.#settle.run(...sqlValues([cost ?? amount, amount, account, budget, value, period]));
    }
  }

  mode(): SharingMode {
    const mode = this.#mode.get()?.['mode'];
    return mode === 'sharing' || mode === 'waiting' ? mode : 'sole';
  }

  #applyRequest({ callId, claims }: ReserveRequest, mode: SharingMode, process: string, nowMs: number): ReserveAnswer {
    const held: { readonly claim: Claim; readonly runLimit: PicoUsd | null }[] = [];
    let isOverSoft = false;
    for (const claim of claims) {
      const scope = this.#scope(claim);
      const { spent, reserved, runLimit: set } = scope;
      const limit = lesser(claim.limit, set);
      if (limit === null) continue;
      // A call of which nothing is known passes while anything is left.
      const wanted = spent + reserved + (claim.amount === 0n ? 1n : claim.amount);
      const isOver = wanted + (mode === 'sole' ? scope.elsewhere : 0n) > limit;
      const refusal = { kind: 'refused', claim, limit, spent: spent + scope.elsewhere, reserved } as const;
      if (isOver && claim.isHard) return refusal;
      if (mode === 'waiting' && claim.isHard) return { kind: 'short', refusal: null };
      if (mode === 'sharing' && claim.isHard) {
        if (wanted > scope.held) {
          this.#askForMore(claim, limit, wanted, true, nowMs);
          return { kind: 'short', refusal: { ...refusal, isShared: true } };
        }
        // The next call like it should not have to wait.
        const next = wanted + claim.amount;
        if (next > scope.held && next <= limit) this.#askForMore(claim, limit, next, false, nowMs);
      }
      if (isOver) isOverSoft = true;
      held.push({ claim, runLimit: claim.budgetId === 0 ? limit : null });
    }
    for (const { claim, runLimit } of held) {
      const { accountId, budgetId, value, periodStartMs, amount } = claim;
      this.#reserve.run(accountId, budgetId, value, periodStartMs, amount, runLimit, nowMs);
      this.#hold.run(callId, accountId, budgetId, value, periodStartMs, amount, process);
    }
    return { kind: 'reserved', held: held.map(({ claim }) => claim), isOverSoft };
  }

  #askForMore(scope: ScopeId, limit: bigint, need: bigint, isUrgent: boolean, nowMs: number): void {
    const { accountId, budgetId, value, periodStartMs } = scope;
    this.#want.run(accountId, budgetId, value, periodStartMs, need, limit, isUrgent ? 1 : 0, nowMs);
  }

  #scope({ accountId, budgetId, value, periodStartMs }: ScopeId): Scope {
    const row = this.#readScope.get(accountId, budgetId, value, periodStartMs);
    if (row === undefined) return UNUSED;
    const { spent, reserved, run_limit: runLimit, held, elsewhere } = row;
    return {
      spent: asBigInt(spent),
      reserved: asBigInt(reserved),
      runLimit: runLimit === null ? null : asBigInt(runLimit),
      held: asBigInt(held),
      elsewhere: asBigInt(elsewhere),
    };
  }

  close(): void {
    this.#db.close();
  }
}

function lesser(a: PicoUsd | null, b: PicoUsd | null): PicoUsd | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function sqlValues(values: readonly (SQLInputValue | undefined)[]): SQLInputValue[] {
  return values.map((value) => value ?? null);
}

export function asBigInt(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  throw new TypeError('the ledger of budgets has something else where a number is expected');
}
