/** Opens the ledger of a node, an SQLite file that its processes share, and reads and writes it in transactions. */
import { closeSync, existsSync, openSync, renameSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { LEDGER_LAYOUT, LEDGER_SCHEMA } from './ledger-schema.ts';

export const LEDGER_NAME = 'budgets.db';

/** Another process holds the file for microseconds; this is for a machine that stands still. */
const BUSY_TIMEOUT_MS = 2_000;

/** Bytes that are no database of SQLite's, or not a whole one any more. */
const DAMAGED = new Set([11, 26]);

class LayoutError extends Error {
  override readonly name = 'LayoutError';
}

/**
 * Opens the file, and makes it when it is missing. A damaged one, or one of another layout, is put aside: what the stored
 * calls have spent is taken in again from the database. Throws when it cannot be used.
 */
export function openLedgerDatabase(file: string, durability: 'process' | 'power'): DatabaseSync {
  try {
    return openDatabase(file, durability);
  } catch (error) {
    if (!isUnusable(error)) throw error;
    for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) renameSync(file + end, `${file}.damaged${end}`);
    return openDatabase(file, durability);
  }
}

function isUnusable(error: unknown): boolean {
  if (error instanceof LayoutError) return true;
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
    if (readLayout(db) !== LEDGER_LAYOUT) inLedgerTransaction(db, () => makeTables(db));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function readLayout(db: DatabaseSync): number {
  return Number(db.prepare('pragma user_version').get()?.['user_version'] ?? 0);
}

function makeTables(db: DatabaseSync): void {
  // Another process may have made them meanwhile.
  if (readLayout(db) === LEDGER_LAYOUT) return;
  const isThere = db.prepare("select name from sqlite_master where name = 'scopes'").get();
  if (isThere !== undefined) throw new LayoutError('the ledger of budgets is of another version');
  db.exec(`${LEDGER_SCHEMA} pragma user_version = ${LEDGER_LAYOUT};`);
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

export function asBigInt(value: unknown): bigint {
  if (typeof value === 'bigint') return value;
  throw new TypeError('the ledger of budgets has something else where a number is expected');
}
