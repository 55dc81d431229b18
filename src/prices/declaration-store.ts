/**
 * The declarations in the database: listing, saving and removing them. A change is one transaction: the declaration, its
 * line in the audit trail, and the version of the prices, by which every process learns of it.
 */
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import type { Stored } from './declaration.ts';
import { describeDeclaration } from './declaration.ts';
import type { DeclarationTable } from './declaration-tables.ts';
import { insertPriceChange } from './price-changes.ts';

/** Of each kind. The price book is made of all of them whenever one changes. */
export const MAX_DECLARATIONS = 5_000;

/** Whoever changes prices does so after whoever came before. */
const LOCK_VERSION = 'select version from price_book_version for update';
const RAISE_VERSION = 'update price_book_version set version = version + 1';

export interface Change {
  readonly accountId: number;
  /** Who, for the audit trail. */
  readonly actor: string;
}

export type Saved<T> =
  /** `isChanged` false: it stood there in the same words, and nothing was done. */
  | { readonly type: 'saved'; readonly declared: Stored<T>; readonly isReplaced: boolean; readonly isChanged: boolean }
  | { readonly type: 'too_many' }
  /** It cannot stand beside the others. */
  | { readonly type: 'refused'; readonly problem: string };

/** Why a declaration cannot stand beside those that are stored; null when it can. */
export type FindProblem<T> = (declared: T, stored: readonly Stored<T>[]) => string | null;

export async function listDeclarations<T, Row extends pg.QueryResultRow>(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  { table, select, read }: DeclarationTable<T, Row>,
): Promise<readonly Stored<T>[]> {
  const { rows } = await client.query<Row>(
    `select ${select} from ${table} where account_id = $1 order by provider, id limit ${MAX_DECLARATIONS}`,
    [accountId],
  );
  return rows.map(read);
}

export async function readDeclaration<T, Row extends pg.QueryResultRow>(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  { table, select, read }: DeclarationTable<T, Row>,
  id: number,
): Promise<Stored<T> | null> {
  const { rows } = await client.query<Row>(`select ${select} from ${table} where account_id = $1 and id = $2`, [
    accountId,
    id,
  ]);
  const [row] = rows;
  return row === undefined ? null : read(row);
}

/** A name of a table or column of ours, with the comparison of its key: an unset field is a value like any other. */
function compareKey(column: string, index: number): string {
  const parameter = `$${index + 2}`;
  return column === 'model' ? `lower(model) = lower(${parameter})` : `${column} is not distinct from ${parameter}`;
}

async function readSameKey<T, Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  accountId: number,
  { table, select, key, read }: DeclarationTable<T, Row>,
  declared: T,
): Promise<Stored<T> | null> {
  const conditions = key.map(compareKey);
  const { rows } = await client.query<Row>(
    `select ${select} from ${table} where account_id = $1 and ${conditions.join(' and ')}`,
    [accountId, ...key.map((column) => declared[column])],
  );
  const [row] = rows;
  return row === undefined ? null : read(row);
}

function isSame<T>(columns: readonly (keyof T)[], a: T, b: T): boolean {
  return columns.every((column) => canonical(a[column]) === canonical(b[column]));
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Takes the place of the declaration with the same key, under a new number: the old one stands in priced calls. */
export function saveDeclaration<T, Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  { accountId, actor }: Change,
  table: DeclarationTable<T, Row>,
  declared: T,
  findProblem?: FindProblem<T>,
): Promise<Saved<T>> {
  return inTransaction(pool, async (client): Promise<Saved<T>> => {
    await client.query(LOCK_VERSION);
    const before = await readSameKey(client, accountId, table, declared);
    if (before !== null && isSame(table.columns, before, declared))
      return { type: 'saved', declared: before, isReplaced: false, isChanged: false };
    const stored = findProblem === undefined ? [] : await listDeclarations(client, accountId, table);
    const problem = findProblem?.(declared, stored) ?? null;
    if (problem !== null) return { type: 'refused', problem };
    if (before !== null) await client.query(`delete from ${table.table} where id = $1`, [before.id]);
    else if (await isFull(client, accountId, table.table)) return { type: 'too_many' };
    const values = table.columns.map((column) => declared[column]);
    const { rows } = await client.query<Row>(
      `insert into ${table.table} (account_id, ${table.columns.join(', ')})
       values ($1, ${values.map((_, index) => `$${index + 2}`).join(', ')}) returning ${table.select}`,
      [accountId, ...values],
    );
    const [row] = rows;
    if (row === undefined) throw new Error('the database stored no declaration');
    const after = table.read(row);
    await insertPriceChange(client, {
      accountId,
      actor,
      subject: table.kind,
      action: before === null ? 'added' : 'replaced',
      summary: describeDeclaration(table.toDeclaration(after)),
      before,
      after,
    });
    await client.query(RAISE_VERSION);
    return { type: 'saved', declared: after, isReplaced: before !== null, isChanged: true };
  });
}

async function isFull(client: pg.ClientBase, accountId: number, table: string): Promise<boolean> {
  const { rows } = await client.query<{ count: number }>(`select count(*) from ${table} where account_id = $1`, [
    accountId,
  ]);
  return (rows[0]?.count ?? 0) >= MAX_DECLARATIONS;
}

/** What was removed; null when there is none with this number. */
export function removeDeclaration<T, Row extends pg.QueryResultRow>(
  pool: pg.Pool,
  { accountId, actor }: Change,
  table: DeclarationTable<T, Row>,
  id: number,
): Promise<Stored<T> | null> {
  return inTransaction(pool, async (client) => {
    await client.query(LOCK_VERSION);
    const before = await readDeclaration(client, accountId, table, id);
    if (before === null) return null;
    await client.query(`delete from ${table.table} where id = $1`, [id]);
    await insertPriceChange(client, {
      ...{ accountId, actor, subject: table.kind, action: 'removed', before, after: null },
      summary: describeDeclaration(table.toDeclaration(before)),
    });
    await client.query(RAISE_VERSION);
    return before;
  });
}
