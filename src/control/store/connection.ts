/**
 * How every connection is opened: its address, and a session with our settings, since those of a server, database or
 * role could change what statements mean. `pool.ts` and `single-connection.ts` hand connections out.
 */

import pg from 'pg';
import { READ_ONLY } from './database-error.ts';
import { plainSslMode } from './ssl-mode.ts';

export const CONNECT_TIMEOUT_MS = 5_000;

export interface ConnectionAddress {
  readonly connectionString: string;
  readonly applicationName: string;
}

/** Only the name goes along with the first message: a pooler refuses other parameters, or drops them silently. */
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

/** The server answers questions but takes no changes, mostly during a fail-over. */
export class StandbyError extends Error {
  readonly code = READ_ONLY;

  constructor() {
    super('the database is a standby that takes no changes; waiting for the primary');
    this.name = 'StandbyError';
  }
}

/** Settings that a role, a database or a server may have changed. Not every version knows each. */
const PINNED: Readonly<Record<string, string>> = {
  client_encoding: 'UTF8',
  DateStyle: 'ISO, YMD',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  bytea_output: 'hex',
  extra_float_digits: '1',
  array_nulls: 'on',
  standard_conforming_strings: 'on',
  transform_null_equals: 'off',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  exit_on_error: 'off',
  // Partitioned tables take no tablespace by name; those of a day go where the database is.
  default_tablespace: '',
  temp_tablespaces: '',
  // Limits are set where the work is known.
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  transaction_timeout: '0',
  idle_session_timeout: '0',
  gin_fuzzy_search_limit: '0',
  // Partitions make the planner expect far more work than there is, and it would compile for seconds.
  jit: 'off',
  client_min_messages: 'warning',
};

/** With `off`, the database would confirm a record before it is on disk, and the spool would drop it. */
const KEEPS_WHAT_IT_SAYS = `set_config('synchronous_commit',
  case current_setting('synchronous_commit') when 'off' then 'on' else current_setting('synchronous_commit') end, false)`;

const PIN = `select pg_is_in_recovery() as "isStandby", ${KEEPS_WHAT_IT_SAYS},
  (select count(set_config(p.name, p.value, false)) from json_each_text($1) as p (name, value)
   where p.name = any(array(select name from pg_settings)))`;

/** Call it once, first. Rejects when the database does not answer, and with a StandbyError. */
export async function pinSettings(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  // Without a listener, a connection that breaks between two queries would end the process. The next query fails.
  client.on('error', () => {});
  // Sent alone, since the role's own limit may be too short for the rest.
  const first = { text: 'set statement_timeout = 0', query_timeout: CONNECT_TIMEOUT_MS };
  await client.query(first);
  const pinned = { ...PINNED, statement_timeout: String(statementTimeoutMs) };
  const question = { text: PIN, values: [JSON.stringify(pinned)], query_timeout: CONNECT_TIMEOUT_MS };
  const { rows } = await client.query<{ isStandby: boolean }>(question);
  if (rows[0]?.isStandby === true) throw new StandbyError();
}
