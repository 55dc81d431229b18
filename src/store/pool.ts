/**
 * Hands out connections to the database. A connection may break at any moment, with or without a word, while it is
 * used, lies idle or waits between two questions: here is made sure that this is only ever an error of the question
 * that is asked on it, and that nobody gets such a connection again. No queries.
 */
import pg from 'pg';
import { CONNECT_TIMEOUT_MS, connectionConfig, pinSettings } from './connection.ts';

const IDLE_TIMEOUT_MS = 30_000;
/** For a network that swallows packets, beyond the limit of the server. */
export const NETWORK_GRACE_MS = 5_000;
/** SQLSTATE: what we are connected to takes no changes any more, so there is another primary. */
const READ_ONLY = '25006';

export interface PoolOptions {
  readonly connectionString: string;
  /** Most connections at a time. */
  readonly max: number;
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /** A connection broke while nobody used it; the pool replaces it by itself. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * Opens no connection yet. `int8` is read as a number (counts stay far below 2^53), `numeric` as a string,
 * `timestamptz` as a Date: our times have milliseconds.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options),
    max: options.max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // For a network that swallows packets: the server's own limit does not reach us then.
    query_timeout: options.statementTimeoutMs + NETWORK_GRACE_MS,
    onConnect: (client) => pinSettings(client, options.statementTimeoutMs),
  });
  pool.on('error', options.onIdleError);
  leaveFormerPrimary(pool);
  return pool;
}

/** When one connection is told that it may not write, the idle ones lead to the same server: they are made anew. */
function leaveFormerPrimary(pool: pg.Pool): void {
  const idle = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => void idle.delete(client));
  pool.on('remove', (client) => void idle.delete(client));
  pool.on('release', (error: unknown, client) => {
    if (!error) idle.add(client);
    else if (error instanceof Error && 'code' in error && error.code === READ_ONLY)
      for (const other of idle) breakOff(other);
  });
}

/** As if the network had: the pool takes note of that by itself. */
function breakOff(client: pg.PoolClient): void {
  client.emit('error', new Error('the server takes no changes any more'));
}

/** Lends a connection. One on which something failed is not used again. */
export async function withConnection<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    return await work(client);
  } catch (error) {
    failure = error instanceof Error ? error : new Error('the work on a connection failed', { cause: error });
    throw failure;
  } finally {
    client.release(failure);
  }
}

/** Runs `work` in one transaction on one connection. */
export function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (client) => {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}

export interface KeptConnection {
  readonly client: pg.PoolClient;
  /** It goes back to the others. */
  readonly giveBack: () => void;
  /** Ends it, also in the middle of a question, and with it the locks and temporary tables that are its own. */
  readonly close: () => void;
}

/** A connection for as long as the caller wants it. Only the first of `giveBack` and `close` counts. */
export async function keepConnection(pool: pg.Pool): Promise<KeptConnection> {
  const client = await pool.connect();
  let isKept = true;
  const release = (isEnded: boolean): void => {
    if (!isKept) return;
    isKept = false;
    client.release(isEnded);
  };
  return { client, giveBack: () => release(false), close: () => release(true) };
}
