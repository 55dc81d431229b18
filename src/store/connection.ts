/**
 * How every connection to the database is opened, whoever wants one: the address, and a session whose settings are
 * ours. What a server, a database or a role has set otherwise (dates in German order, a limit of a second, read-only)
 * would change what our statements mean. `pool.ts` and `single-connection.ts` hand connections out; nobody else opens
 * one.
 */
import pg from 'pg';
import { plainSslMode } from './ssl-mode.ts';

export const CONNECT_TIMEOUT_MS = 5_000;

export interface ConnectionAddress {
  readonly connectionString: string;
  readonly applicationName: string;
}

/**
 * Nothing goes along with the first message but the name: a pooler refuses a connection for parameters that it does not
 * know, or drops them without a word.
 */
export function connectionConfig({ connectionString, applicationName }: ConnectionAddress): pg.ClientConfig {
  return {
    connectionString: plainSslMode(connectionString),
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    types: {
      getTypeParser(oid: number, format?: 'text' | 'binary') {
        if (oid === INT8_OID && format !== 'binary') return Number;
        return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
      },
    },
  };
}

const INT8_OID = 20;

/** The server takes questions, but no changes: a standby, mostly for the moment of a fail-over. */
export class StandbyError extends Error {
  /** SQLSTATE: read-only transaction. */
  readonly code = '25006';

  constructor() {
    super('the database is a standby that takes no changes; waiting for the primary');
    this.name = 'StandbyError';
  }
}

/** What a role, a database or a server may have set otherwise. Not every version knows each. */
const PINNED: Readonly<Record<string, string>> = {
  // One form for every value, in and out.
  client_encoding: 'UTF8',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  // What a transaction is.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  // Partitioned tables take none by name, and the ones of a day go where the database is.
  default_tablespace: '',
  temp_tablespaces: '',
  // Limits are set where the work is known.
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  // Whole answers.
  gin_fuzzy_search_limit: '0',
  // By the number of partitions the planner expects much more work than there is, and would compile it for seconds.
  jit: 'off',
  client_min_messages: 'warning',
};

/**
 * A record leaves the spool when the database says that it has it: `off` would let it say so before it is on its disk.
 */
const KEEPS_WHAT_IT_SAYS = `set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`;

const PIN = `select pg_is_in_recovery() as "isStandby", ${KEEPS_WHAT_IT_SAYS},
  (select count(set_config(p.name, p.value, false)) from json_each_text($1) as p (name, value)
   where p.name = any(array(select name from pg_settings)))`;

/**
 * To be called once, before anything else, with no limit of the server's so far. Rejects when the database does not
 * answer, and with a StandbyError.
 */
export async function pinSettings(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  // A connection that breaks while nobody asks anything says so here; the next question on it fails, and that is
  // handled. Without it the process would end.
  client.on('error', () => {});
  // Alone, for it is what the role's own limit may be too short for.
  const first = { text: 'set statement_timeout = 0', query_timeout: CONNECT_TIMEOUT_MS };
  await client.query(first);
  const pinned = { ...PINNED, statement_timeout: String(statementTimeoutMs) };
  const question = { text: PIN, values: [JSON.stringify(pinned)], query_timeout: CONNECT_TIMEOUT_MS };
  const { rows } = await client.query<{ isStandby: boolean }>(question);
  if (rows[0]?.isStandby === true) throw new StandbyError();
}
