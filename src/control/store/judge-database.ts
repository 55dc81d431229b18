/** Judges whether a database can be used, before anything is written to it. Refusals say in one line what to do. */

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { NodeRole } from '../../vocabulary/config.ts';
import { OperatorError } from '../../vocabulary/errors.ts';
import { type ConnectionAddress, StandbyError } from './connection.ts';
import { errorCode, PROTOCOL_VIOLATION } from './database-error.ts';
import { closeConnection, openBareConnection } from './single-connection.ts';

/** A pooler may alternate connections, so that the first rounds look well. */
const ROUNDS = 3;
/** The needs of one node (`control-pools.ts`), with a backup or a start beside it. */
const NODE_CONNECTIONS: Readonly<Record<NodeRole, number>> = { all: 18, control: 18, proxy: 7 };

export interface DatabaseVerdict {
  /** What works less well than it could; null when nothing does. */
  readonly warning: string | null;
}

/** Throws an OperatorError for what is refused, a StandbyError, or the database's own error. */
export async function judgeDatabase(address: ConnectionAddress, role: NodeRole = 'all'): Promise<DatabaseVerdict> {
  const first = await openBareConnection(address);
  try {
    const facts = await readFacts(first);
    if (facts.isStandby) throw new StandbyError();
    refuseOddities(facts);
    const second = await openBareConnection(address);
    try {
      if (await isShared(first, second)) throw refusePooler();
    } finally {
      await closeConnection(second);
    }
    return { warning: warnOf(facts, role) };
  } finally {
    await closeConnection(first);
  }
}

interface Facts {
  readonly isStandby: boolean;
  readonly database: string;
  readonly encoding: string;
  readonly searchPath: string;
  readonly schema: string | null;
  readonly mayCreate: boolean;
  readonly user: string;
  readonly hasTables: boolean;
  /** Another schema that has our tables. */
  readonly otherSchema: string | null;
  /** The most connections of this role, database and server; null without a limit. */
  readonly mostOfRole: number | null;
  readonly mostOfDatabase: number | null;
  readonly mostOfServer: number;
}

async function readFacts(client: pg.ClientBase): Promise<Facts> {
  const { rows } = await client.query<Facts>(`
    select pg_is_in_recovery() as "isStandby", current_database()::text as database,
      current_setting('server_encoding') as encoding, current_setting('search_path') as "searchPath",
      current_schema()::text as schema, current_user::text as "user",
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) as "mayCreate", to_regclass('schema_migrations') is not null as "hasTables",
      (select n.nspname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relname = 'schema_migrations' and n.nspname is distinct from current_schema()
         and exists (select from pg_class o where o.relnamespace = n.oid and o.relname = 'llm_requests')
       order by 1 limit 1) as "otherSchema",
      (select rolconnlimit from pg_roles where rolname = current_user and rolconnlimit >= 0 and not rolsuper) as "mostOfRole",
      (select datconnlimit from pg_database where datname = current_database() and datconnlimit >= 0) as "mostOfDatabase",
      current_setting('max_connections')::int as "mostOfServer"`);
  const [row] = rows;
  if (row === undefined) throw new Error('the database said nothing of itself');
  return row;
}

function refuseOddities(facts: Facts): void {
  const { database, encoding, searchPath, schema, mayCreate, user, hasTables, otherSchema } = facts;
  if (encoding !== 'UTF8' && encoding !== 'SQL_ASCII')
    throw new OperatorError(
      `DATABASE_URL: the database ${database} is in ${encoding}, which cannot hold every text: make one in UTF-8 (create database … encoding 'UTF8' template template0) and name that`,
    );
  if (schema === null)
    throw new OperatorError(
      `DATABASE_URL: search_path (${searchPath}) names no schema that is there and may be used: make the schema, or alter role … set search_path = public`,
    );
  if (!mayCreate)
    throw new OperatorError(
      `DATABASE_URL: ${user} may not make tables in the schema ${schema}: grant create on schema ${schema} to ${user}, or let it own the database`,
    );
  if (!hasTables && otherSchema !== null)
    throw new OperatorError(
      `DATABASE_URL: the log of this database is in the schema ${otherSchema}, and search_path (${searchPath}) leads to ${schema}: alter role … set search_path = ${otherSchema}, or use another database`,
    );
}

function warnOf(facts: Facts, role: NodeRole): string | null {
  const { database, encoding } = facts;
  const warnings = [
    encoding === 'SQL_ASCII'
      ? `the database ${database} is in SQL_ASCII, which takes every text and understands only ASCII: other letters are stored, but neither compared nor cut by letter; a new database is better made in UTF-8`
      : null,
    warnOfLimits(facts, role),
  ].filter((warning) => warning !== null);
  return warnings.length === 0 ? null : warnings.join('; ');
}

/** With too few connections the gateway starts, and its records wait. */
function warnOfLimits(
  { database, user, mostOfRole, mostOfDatabase, mostOfServer }: Facts,
  nodeRole: NodeRole,
): string | null {
  const needed = NODE_CONNECTIONS[nodeRole];
  const node = nodeRole === 'proxy' ? 'node of this role' : 'node';
  const limits = [
    { most: mostOfRole, what: `the role ${user}`, how: `alter role ${user} connection limit` },
    { most: mostOfDatabase, what: `the database ${database}`, how: `alter database ${database} connection limit` },
    { most: mostOfServer, what: 'the server', how: 'set max_connections to at least' },
  ];
  for (const { most, what, how } of limits)
    if (most !== null && most < needed)
      return `${what} takes ${most} connections at a time, and each ${node} needs ${needed}: ${how} ${needed}`;
  return null;
}

function refusePooler(): OperatorError {
  return new OperatorError(
    'DATABASE_URL leads to a connection pooler in transaction or statement mode, where locks and temporary tables do not stay with a connection: use its session mode, or connect to PostgreSQL directly',
  );
}

interface Backend {
  /** Unique over all servers and times. */
  readonly backend: string;
  readonly probe: string | null;
}

const WHO = `select concat(pg_backend_pid(), ' ', (select extract(epoch from backend_start) from pg_stat_activity
  where pid = pg_backend_pid())) as backend, current_setting('tollgate.probe', true) as probe`;

/** Poolers give concurrent clients one backend, or move them and lose their settings, also within a transaction. */
async function isShared(first: pg.ClientBase, second: pg.ClientBase): Promise<boolean> {
  const mark = randomUUID();
  // Some poolers reserve a connection for a client that has set something, which is as good as its own.
  await first.query('select set_config($1, $2, false)', ['tollgate.probe', mark]);
  await second.query('select set_config($1, $2, false)', ['tollgate.probe', '']);
  const own = await ask(first);
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await ask(second);
    if (before.backend === own.backend || before.probe === mark) return true;
    if (!(await begins(second))) return true;
    const during = await ask(second);
    const meanwhile = await ask(first);
    await second.query('rollback');
    if (during.backend !== before.backend) return true;
    if (meanwhile.backend !== own.backend || meanwhile.probe !== mark) return true;
  }
  return false;
}

async function ask(client: pg.ClientBase): Promise<Backend> {
  const { rows } = await client.query<Backend>(WHO);
  const [row] = rows;
  if (row === undefined) throw new Error('the database did not say which process answers');
  return row;
}

/** In statement mode a pooler refuses transactions with "protocol violation". */
async function begins(client: pg.ClientBase): Promise<boolean> {
  try {
    await client.query('begin; set local idle_in_transaction_session_timeout = 0');
    return true;
  } catch (error) {
    if (errorCode(error) === PROTOCOL_VIOLATION) return false;
    throw error;
  }
}
