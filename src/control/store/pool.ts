/**
 * The connection pool. A connection may break while used, idle or between two queries: that only fails the query on it,
 * and nobody gets that connection again.
 */

import pg from 'pg';
import { CONNECT_TIMEOUT_MS, connectionConfig, pinSettings } from './connection.ts';
import { errorCode, READ_ONLY } from './database-error.ts';

const IDLE_TIMEOUT_MS = 30_000;
/** Exceeds the server's limit, for a network that swallows packets. */
export const NETWORK_GRACE_MS = 5_000;

export interface PoolOptions {
  readonly connectionString: string;
  readonly max: number;
  readonly statementTimeoutMs: number;
  readonly applicationName: string;
  /** A connection broke while idle; the pool replaces it. */
  readonly onIdleError: (error: Error) => void;
}

/**
 * Opens no connection yet. `int8` is a number (counts stay far below 2^53), `numeric` a string, `timestamptz` a Date.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionConfig(options),
    max: options.max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // The server's own limit does not reach us through a network that swallows packets.
    query_timeout: options.statementTimeoutMs + NETWORK_GRACE_MS,
    onConnect: (client) => pinSettings(client, options.statementTimeoutMs),
  });
  pool.on('error', options.onIdleError);
  leaveFormerPrimary(pool);
  return pool;
}

/** After a read-only error the idle connections, which lead to the same server, are replaced. */
function leaveFormerPrimary(pool: pg.Pool): void {
  const idle = new Set<pg.PoolClient>();
  pool.on('acquire', (client) => void idle.delete(client));
  pool.on('remove', (client) => void idle.delete(client));
  pool.on('release', (error: unknown, client) => {
    if (!error) idle.add(client);
    else if (errorCode(error) === READ_ONLY) for (const other of idle) breakOff(other);
  });
}

/** The pool notices this as it would a broken network. */
function breakOff(client: pg.PoolClient): void {
  client.emit('error', new Error('the server takes no changes any more'));
}

/** Lends a connection, and closes it when something fails on it. */
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

export function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (client) => {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}

/** Several questions about one moment. */
export function inSnapshot<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  return withConnection(pool, async (client) => {
    await client.query('begin isolation level repeatable read, read only');
    const result = await work(client);
    await client.query('commit');
    return result;
  });
}

export interface KeptConnection {
  readonly client: pg.PoolClient;
  readonly giveBack: () => void;
  /** Ends the connection, even during a query, with its locks and temporary tables. */
  readonly close: () => void;
}

/** Lends a connection until the first of `giveBack` and `close`. */
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
