/** Asks a PostgreSQL whether it answers; nothing else is queried from here. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { plainSslMode } from '../../store/ssl-mode.ts';

const CONNECT_TIMEOUT_MS = 3_000;
const POLL_MS = 20;

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
  // A connection that breaks later is reported by the query that is under way.
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Throws what the driver throws; its messages hold no password. */
export function askPostgres(connectionString: string): Promise<PostgresAnswer> {
  return withClient(connectionString, async (client) => {
    const result = await client.query<{ version: string; directory: string | null }>(
      `select current_setting('server_version') as version, current_setting('data_directory', true) as directory`,
    );
    return { version: result.rows[0]?.version ?? '', dataDirectory: result.rows[0]?.directory ?? null };
  });
}

/** Ends early when `isOver`: the server has gone, or nobody waits for it any more. */
export async function answerWithin(url: string, timeoutMs: number, isOver: () => boolean): Promise<PostgresAnswer> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await askPostgres(url);
    } catch (error) {
      if (readErrorCode(error) === '3D000' || isOver() || performance.now() > endMs) throw error;
      await sleep(POLL_MS);
    }
  }
}

/** Only `select 1`: a server of the operator's need not let its users see settings. */
export async function pingPostgres(connectionString: string): Promise<void> {
  await withClient(connectionString, (client) => client.query('select 1'));
}

export async function createDatabase(connectionString: string, name: string): Promise<void> {
  await withClient(connectionString, (client) => client.query(`create database ${client.escapeIdentifier(name)}`));
}

/** Runs a shell command as the server's user, where the server runs. Only for words of our own. */
export async function runInServer(connectionString: string, command: string): Promise<void> {
  await withClient(connectionString, (client) =>
    // It reads what it is given first: a pipe that breaks would be an error before the command has run.
    client.query(`copy (select 1) to program ${client.escapeLiteral(`cat >/dev/null; ${command}`)}`),
  );
}

/** It was told to stop and takes no connection any more. */
export function isShuttingDown(error: unknown): boolean {
  return readErrorCode(error) === '57P03' && error instanceof Error && /shutting down/.test(error.message);
}

/** The SQLSTATE or the system's code of a failed connection, or null. */
export function readErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}

/** One line for a message: what failed, without the connection string. Node wraps several attempts in one error. */
export function describeConnectionError(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map((one) => describeConnectionError(one)).join(', ');
  const text = error instanceof Error ? error.message : String(error);
  return (text.split('\n')[0] ?? '') || (readErrorCode(error) ?? 'no answer');
}
