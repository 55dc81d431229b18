/** Short connections of the supervisor to a PostgreSQL. */
import pg from 'pg';
import { plainSslMode } from '../../control/store/ssl-mode.ts';
import { messageOf, readErrorCode } from '../../vocabulary/errors.ts';

const CONNECT_TIMEOUT_MS = 3_000;

export interface PostgresAnswer {
  readonly version: string;
  readonly dataDirectory: string | null;
}

async function withClient<T>(connectionString: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: plainSslMode(connectionString),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: 2 * CONNECT_TIMEOUT_MS,
    application_name: 'tollgate supervisor',
  });
  // The query under way reports a connection that breaks.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Throws the driver's errors, which hold no password. */
export function askPostgres(connectionString: string): Promise<PostgresAnswer> {
  return withClient(connectionString, async (client) => {
    const result = await client.query<{ version: string; directory: string | null }>(
      `select current_setting('server_version') as version, current_setting('data_directory', true) as directory`,
    );
    return { version: result.rows[0]?.version ?? '', dataDirectory: result.rows[0]?.directory ?? null };
  });
}

/** Only `select 1`: an operator's server may hide its settings. */
export async function pingPostgres(connectionString: string): Promise<void> {
  await withClient(connectionString, (client) => client.query('select 1'));
}

export async function createDatabase(connectionString: string, name: string): Promise<void> {
  await withClient(connectionString, (client) => client.query(`create database ${client.escapeIdentifier(name)}`));
}

/** Runs a shell command as the server's user, where the server runs. Only for our own words. */
export async function runInServer(connectionString: string, command: string): Promise<void> {
  await withClient(connectionString, (client) =>
    // The command must read its input first, or the pipe breaks before it has run.
    client.query(`copy (select 1) to program ${client.escapeLiteral(`cat >/dev/null; ${command}`)}`),
  );
}

/** One line without the connection string. Node wraps several attempts in one error. */
export function describeConnectionError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => describeConnectionError(one)).join(', ');
  const text = messageOf(error);
  return (text.split('\n')[0] ?? '') || (readErrorCode(error) ?? 'no answer');
}
