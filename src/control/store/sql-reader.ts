/** The one role that may only read the views of the schema `reporting`. Making it again changes its password. */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { noteChange } from '../audit/note-change.ts';
import { inTransaction } from './pool.ts';

/** A long report or a forgotten session must not hold up the log's housekeeping. */
const REPORT_LIMIT_MS = 300_000;
const IDLE_TRANSACTION_LIMIT_MS = 60_000;
const MAX_SESSIONS = 5;

export interface SqlReader {
  readonly role: string;
  readonly password: string;
  readonly database: string;
}

async function readRole(client: pg.ClientBase): Promise<{ readonly role: string; readonly database: string }> {
  const { rows } = await client.query<{ role: string; database: string }>(
    "select left(current_database(), 56) || '_reader' as role, current_database() as database",
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the database does not say its name');
  return row;
}

async function isThere(client: pg.ClientBase, role: string): Promise<boolean> {
  const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role]);
  return rowCount === 1;
}

/** Throws the database's error: `42501` when its user may not create roles. */
export function makeSqlReader(pool: pg.Pool, accountId: number): Promise<SqlReader> {
  return inTransaction(pool, async (client) => {
    const { role, database } = await readRole(client);
    const password = randomBytes(24).toString('base64url');
    const name = client.escapeIdentifier(role);
    const where = client.escapeIdentifier(database);
    const verb = (await isThere(client, role)) ? 'alter' : 'create';
    // PostgreSQL takes no parameter here, so it is a literal of letters, digits, "-" and "_".
    await client.query(`${verb} role ${name} login connection limit ${MAX_SESSIONS} password '${password}'`);
    for (const setting of [
      'default_transaction_read_only = on',
      `statement_timeout = ${REPORT_LIMIT_MS}`,
      `idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_LIMIT_MS}`,
      'search_path = reporting',
    ])
      await client.query(`alter role ${name} in database ${where} set ${setting}`);
    await client.query(`grant connect on database ${where} to ${name}`);
    await client.query(`grant usage on schema reporting to ${name}`);
    await client.query(`grant select on all tables in schema reporting to ${name}`);
    await client.query(`alter default privileges in schema reporting grant select on tables to ${name}`);
    await noteChange(client, { accountId, action: 'sql_access.create', subject: { kind: 'sql_access', id: role } });
    return { role, password, database };
  });
}

/** Ends its sessions and returns its name, or null when there is none. */
export function removeSqlReader(pool: pg.Pool, accountId: number): Promise<string | null> {
  return inTransaction(pool, async (client) => {
    const { role } = await readRole(client);
    if (!(await isThere(client, role))) return null;
    const name = client.escapeIdentifier(role);
    await client.query(`alter role ${name} nologin`);
    await client.query('select pg_terminate_backend(pid) from pg_stat_activity where usename = $1', [role]);
    await client.query(`drop owned by ${name}`);
    await client.query(`drop role ${name}`);
    await noteChange(client, { accountId, action: 'sql_access.remove', subject: { kind: 'sql_access', id: role } });
    return role;
  });
}
