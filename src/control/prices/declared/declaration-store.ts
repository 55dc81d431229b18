/** Lists, saves and removes declarations, each change with its audit line and a new price version. */
import type pg from 'pg';
import { inTransaction } from '../../store/pool.ts';
import { findMappingProblem } from './check-declaration.ts';
import {
  type Declaration,
  type DeclarationKind,
  type DeclarationOf,
  describeDeclaration,
  type Stored,
  type StoredDeclaration,
  withoutKind,
} from './declaration.ts';
import { insertPriceChange } from './price-changes.ts';

/** Per kind; the price book is rebuilt from all of them. */
export const MAX_DECLARATIONS = 5_000;

interface DeclarationTable {
  readonly name: string;
  /** Two declarations with an equal key cannot coexist. Model ids ignore case. */
  readonly key: readonly string[];
  readonly others: readonly string[];
}

const TABLES: Readonly<Record<DeclarationKind, DeclarationTable>> = {
  override: {
    name: 'price_overrides',
    key: ['provider', 'provider_alias', 'match', 'model', 'service_tier', 'over_tokens', 'up_to_tokens', 'valid_from'],
    others: ['rates', 'valid_to', 'note'],
  },
  mapping: {
    name: 'price_mappings',
    key: ['provider', 'provider_alias', 'match', 'model', 'valid_from'],
    others: ['billing_model', 'valid_to', 'note'],
  },
  multiplier: {
    name: 'price_multipliers',
    key: ['provider', 'provider_alias', 'valid_from'],
    others: ['factor', 'valid_to', 'note'],
  },
};

/** Changes of prices wait for each other. */
const LOCK_VERSION = 'select version from price_book_version for update';
const RAISE_VERSION = 'update price_book_version set version = version + 1';

export interface Change {
  readonly accountId: number;
  readonly actor: string;
}

export type Saved =
  /** `isChanged` false: an equal one existed, and nothing was done. */
  | {
      readonly type: 'saved';
      readonly declared: StoredDeclaration;
      readonly isReplaced: boolean;
      readonly isChanged: boolean;
    }
  | { readonly type: 'too_many' }
  | { readonly type: 'refused'; readonly problem: string };

function selectedColumns(kind: DeclarationKind): string {
  const written: Readonly<Record<string, string>> = {
    valid_from: isoText('valid_from'),
    valid_to: isoText('valid_to'),
    factor: 'trim_scale(factor)::text as factor',
  };
  const columns = columnsOf(kind).map((column) => written[column] ?? column);
  return ['id', `'${kind}' as kind`, ...columns, isoText('created_at')].join(', ');
}

function isoText(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
}

function columnsOf(kind: DeclarationKind): readonly string[] {
  return [...TABLES[kind].key, ...TABLES[kind].others];
}

function valuesOf(declaration: Declaration, columns: readonly string[]): readonly unknown[] {
  const fields = new Map<string, unknown>(Object.entries(declaration));
  return columns.map((column) => fields.get(column));
}

async function query<K extends DeclarationKind>(
  client: pg.ClientBase | pg.Pool,
  kind: K,
  where: string,
  values: readonly unknown[],
): Promise<readonly Stored<DeclarationOf<K>>[]> {
  const { rows } = await client.query<Stored<DeclarationOf<K>>>(
    `select ${selectedColumns(kind)} from ${TABLES[kind].name} where account_id = $1 and ${where}`,
    [...values],
  );
  return rows;
}

export function listDeclarations<K extends DeclarationKind>(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  kind: K,
): Promise<readonly Stored<DeclarationOf<K>>[]> {
  return query(client, kind, `true order by provider, id limit ${MAX_DECLARATIONS}`, [accountId]);
}

/** Accounts that have declared something. */
export async function listDeclaringAccounts(client: pg.ClientBase | pg.Pool): Promise<readonly number[]> {
  const { rows } = await client.query<{ accountId: number }>(
    `${Object.values(TABLES)
      .map(({ name }) => `select account_id as "accountId" from ${name}`)
      .join(' union ')} order by 1`,
  );
  return rows.map(({ accountId }) => accountId);
}

export async function readDeclaration(
  client: pg.ClientBase | pg.Pool,
  accountId: number,
  { kind, id }: Pick<StoredDeclaration, 'kind' | 'id'>,
): Promise<StoredDeclaration | null> {
  const [found] = await query(client, kind, 'id = $2', [accountId, id]);
  return found ?? null;
}

/** Nulls in a key compare as equal. */
function compareKey(column: string, index: number): string {
  const parameter = `$${index + 2}`;
  return column === 'model' ? `lower(model) = lower(${parameter})` : `${column} is not distinct from ${parameter}`;
}

async function readSameKey(
  client: pg.ClientBase,
  accountId: number,
  declaration: Declaration,
): Promise<StoredDeclaration | null> {
  const { key } = TABLES[declaration.kind];
  const where = key.map(compareKey).join(' and ');
  const [found] = await query(client, declaration.kind, where, [accountId, ...valuesOf(declaration, key)]);
  return found ?? null;
}

function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function isSame(a: Declaration, b: Declaration): boolean {
  const [ofA, ofB] = [a, b].map((declaration) => valuesOf(declaration, columnsOf(a.kind)).map(canonical));
  return JSON.stringify(ofA) === JSON.stringify(ofB);
}

async function isFull(client: pg.ClientBase, accountId: number, kind: DeclarationKind): Promise<boolean> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*) from ${TABLES[kind].name} where account_id = $1`,
    [accountId],
  );
  return (rows[0]?.count ?? 0) >= MAX_DECLARATIONS;
}

async function insert(client: pg.ClientBase, accountId: number, declaration: Declaration): Promise<StoredDeclaration> {
  const { kind } = declaration;
  const columns = columnsOf(kind);
  const { rows } = await client.query<StoredDeclaration>(
    `insert into ${TABLES[kind].name} (account_id, ${columns.join(', ')})
     values ($1, ${columns.map((_, index) => `$${index + 2}`).join(', ')}) returning ${selectedColumns(kind)}`,
    [accountId, ...valuesOf(declaration, columns)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database stored no declaration');
  return row;
}

async function noteChange(
  client: pg.ClientBase,
  change: Change,
  before: StoredDeclaration | null,
  after: StoredDeclaration | null,
): Promise<void> {
  const declared = after ?? before;
  if (declared === null) return;
  const action = after === null ? 'removed' : before === null ? 'added' : 'replaced';
  await insertPriceChange(client, {
    ...change,
    subject: declared.kind,
    action,
    summary: describeDeclaration(declared),
    before: before === null ? null : withoutKind(before),
    after: after === null ? null : withoutKind(after),
  });
  await client.query(RAISE_VERSION);
}

/** Replaces the declaration with the same key under a new number: the old one stands in priced calls. */
export function saveDeclaration(pool: pg.Pool, change: Change, declaration: Declaration): Promise<Saved> {
  const { accountId } = change;
  const { kind } = declaration;
  return inTransaction(pool, async (client): Promise<Saved> => {
    await client.query(LOCK_VERSION);
    const before = await readSameKey(client, accountId, declaration);
    if (before !== null && isSame(before, declaration))
      return { type: 'saved', declared: before, isReplaced: false, isChanged: false };
    if (kind === 'mapping') {
      const problem = findMappingProblem(declaration, await listDeclarations(client, accountId, kind));
      if (problem !== null) return { type: 'refused', problem };
    }
    if (before !== null) await client.query(`delete from ${TABLES[kind].name} where id = $1`, [before.id]);
    else if (await isFull(client, accountId, kind)) return { type: 'too_many' };
    const after = await insert(client, accountId, declaration);
    await noteChange(client, change, before, after);
    return { type: 'saved', declared: after, isReplaced: before !== null, isChanged: true };
  });
}

/** The removed declaration; null when the number is unknown. */
export function removeDeclaration(
  pool: pg.Pool,
  change: Change,
  removed: Pick<StoredDeclaration, 'kind' | 'id'>,
): Promise<StoredDeclaration | null> {
  return inTransaction(pool, async (client) => {
    await client.query(LOCK_VERSION);
    const before = await readDeclaration(client, change.accountId, removed);
    if (before === null) return null;
    await client.query(`delete from ${TABLES[before.kind].name} where id = $1`, [before.id]);
    await noteChange(client, change, before, null);
    return before;
  });
}
