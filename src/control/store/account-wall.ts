/**
 * The second wall between accounts: PostgreSQL's row-level security, for a role that people and API tokens ask with. The
 * first is the condition on the account in each query. The gateway's own work and the operator are the owner of the tables, whom
 * policies do not touch.
 */
import type pg from 'pg';
import { errorCode, INSUFFICIENT_PRIVILEGE, LOCK_NOT_AVAILABLE } from './database-error.ts';
import { inTransaction } from './pool.ts';

/** Arbitrary, and the same in every version: two nodes that start together. */
const WALL_LOCK = 7_461_038;
const TABLE_LOCK_LIMIT_MS = 2_000;
export const ACCOUNT_SETTING = 'tollgate.account';

/** A subquery is computed once for a statement. Without the setting it is null, and no row is anybody's. */
const OWN = `(select nullif(current_setting('${ACCOUNT_SETTING}', true), '')::int4)`;

/**
 * The tables of calls, and the views of a roll-up with what is not folded into it yet, are behind views instead. A policy is tested before any condition that could tell of a row by an error, so
 * no index over metadata, terms or money would serve; a view is part of the query. The role makes no functions, so none
 * of its queries can look behind one. Its search path leads to the views, and it may not read the tables.
 */
const WALL_SCHEMA = 'account_wall';
const BEHIND_VIEWS = [
  'llm_requests',
  'llm_runs',
  'llm_run_facets',
  'llm_texts',
  'llm_cost_hours',
  'llm_facet_hours',
  'llm_metadata_hours',
];

/** Tables without an account of their own, by the table that has it. */
const BY_OTHERS: Readonly<Record<string, string>> = {
  accounts: `id = ${OWN}`,
  llm_bodies: `exists (select from ${WALL_SCHEMA}.llm_requests r
    where r.id = llm_bodies.id and r.requested_at = llm_bodies.requested_at)`,
  reprice_days: 'exists (select from jobs j where j.id = reprice_days.job_id)',
};

/** One for all accounts, without anything of one of them. */
const SHARED_TO_READ = [
  'deployment_settings',
  'llm_search_calls',
  'llm_search_texts',
  'llm_search_state',
  'llm_search_days',
  'price_catalogs',
  'price_feed',
];
/** Versions and the end of the audit log, which changes raise. */
const SHARED_TO_RAISE = ['key_snapshot', 'price_book_version', 'audit_head', 'budget_version'];

async function listTables(client: pg.ClientBase): Promise<ReadonlyMap<string, boolean>> {
  const { rows } = await client.query<{ name: string; hasAccount: boolean }>(
    `select c.relname as name, exists (
       select from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped) as "hasAccount"
     from pg_class c where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
       and not c.relispartition order by 1`,
  );
  return new Map(rows.map(({ name, hasAccount }) => [name, hasAccount]));
}

function ruleOf(table: string, hasAccount: boolean): string | null {
  return BY_OTHERS[table] ?? (hasAccount ? `account_id = ${OWN}` : null);
}

async function addPolicies(client: pg.ClientBase, tables: ReadonlyMap<string, boolean>): Promise<void> {
  const { rows } = await client.query<{ table: string }>(
    `select tablename as "table" from pg_policies where schemaname = current_schema() and policyname = 'own_account'`,
  );
  const done = new Set(rows.map(({ table }) => table));
  for (const [table, hasAccount] of tables) {
    const rule = ruleOf(table, hasAccount);
    if (rule === null || done.has(table)) continue;
    await client.query(`alter table ${table} enable row level security`);
    await client.query(`create policy own_account on ${table} using (${rule}) with check (${rule})`);
  }
}

/** `create or replace` takes in columns of later migrations, which come last. */
async function makeViews(client: pg.ClientBase, role: string): Promise<void> {
  await client.query(`create schema if not exists ${WALL_SCHEMA}`);
  for (const table of BEHIND_VIEWS) {
    await client.query(
      `create or replace view ${WALL_SCHEMA}.${table} as select * from ${table} where account_id = ${OWN}`,
    );
    await client.query(`grant select on ${WALL_SCHEMA}.${table} to ${role}`);
  }
  await client.query(`grant usage on schema ${WALL_SCHEMA} to ${role}`);
}

async function grantTables(client: pg.ClientBase, role: string, tables: ReadonlyMap<string, boolean>): Promise<void> {
  const own = [...tables]
    .filter(([table, hasAccount]) => ruleOf(table, hasAccount) !== null && !BEHIND_VIEWS.includes(table))
    .map(([table]) => table);
  const there = (names: readonly string[]) => names.filter((name) => tables.has(name)).join(', ');
  await client.query(`grant select, insert, update, delete on ${own.join(', ')} to ${role}`);
  await client.query(`grant select on ${there(SHARED_TO_READ)} to ${role}`);
  await client.query(`grant select, update on ${there(SHARED_TO_RAISE)} to ${role}`);
}

async function readRole(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ role: string }>("select left(current_database(), 55) || '_account' as role");
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not say its name');
  return client.escapeIdentifier(row.role);
}

async function isThere(client: pg.ClientBase, role: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role.slice(1, -1)]);
  return rowCount === 1;
}

export interface WallRole {
  /** Quoted. */
  readonly role: string;
  readonly searchPath: string;
}

export type WallResult =
  | ({ readonly kind: 'up' } & WallRole)
  /** The gateway's user may not create roles. */
  | { readonly kind: 'forbidden'; readonly role: string }
  /** Others use a table; try again. */
  | { readonly kind: 'busy' };

/** Brings role, grants and policies up to date, for tables of later migrations as well. */
export async function raiseAccountWall(pool: pg.Pool): Promise<WallResult> {
  let role = '';
  try {
    return await inTransaction(pool, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [WALL_LOCK]);
      await client.query(`set local lock_timeout = ${TABLE_LOCK_LIMIT_MS}`);
      role = await readRole(client);
      const tables = await listTables(client);
      if (!(await isThere(client, role))) {
        await client.query(`create role ${role} nologin`);
        await client.query(`grant ${role} to current_user`);
      }
      const schema = await readSchema(client);
      await client.query(`grant usage on schema ${client.escapeIdentifier(schema)} to ${role}`);
      await makeViews(client, role);
      await addPolicies(client, tables);
      await grantTables(client, role, tables);
      return { kind: 'up', role, searchPath: `${WALL_SCHEMA}, ${client.escapeIdentifier(schema)}` };
    });
  } catch (error) {
    if (errorCode(error) === INSUFFICIENT_PRIVILEGE) return { kind: 'forbidden', role };
    if (errorCode(error) === LOCK_NOT_AVAILABLE) return { kind: 'busy' };
    throw error;
  }
}

async function readSchema(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select current_schema() as name');
  return rows[0]?.name ?? 'public';
}
