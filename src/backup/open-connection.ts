/** A connection of its own for one backup or restore: without limits of time, and with one way to write every value. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const CONNECT_TIMEOUT_MS = 5_000;
/** For a network that swallows packets. */
const CLOSE_LIMIT_MS = 2_000;

/** Limits that a server's own configuration may set; not every version knows each. */
const NO_LIMITS = `select set_config(name, '0', false) from pg_settings
  where name in ('statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout', 'lock_timeout')`;

/** So that the text of a value is the same whatever the server, the database or the user is set to. */
const ONE_FORM = `set client_encoding = 'UTF8'; set timezone = 'UTC'; set datestyle = 'ISO, YMD'; set bytea_output = 'hex';
  set extra_float_digits = 1; set intervalstyle = 'postgres'; set jit = off`;

/** The caller closes it. */
export async function openConnection(connectionString: string, applicationName: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A connection that breaks between two questions says so here; the next question then fails, and that is handled.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(NO_LIMITS);
    await client.query(ONE_FORM);
  } catch (error) {
    await closeConnection(client);
    throw error;
  }
  return client;
}

/** Also in the middle of a question: what its transaction did is undone then. */
export async function closeConnection(client: pg.Client): Promise<void> {
  await Promise.race([client.end().catch(() => {}), sleep(CLOSE_LIMIT_MS, undefined, { ref: false })]);
}
