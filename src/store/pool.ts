/** The connections to the database, and how its types become ours, decided once. No queries. */
import pg from 'pg';

const INT8_OID = 20;
const CONNECT_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
const NETWORK_GRACE_MS = 5_000;

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
 * Opens no connection yet. `int8` is read as a number (counts stay far below 2^53), `numeric` as a string, `timestamptz`
 * as a Date: our times have milliseconds.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    statement_timeout: options.statementTimeoutMs,
    // For a network that swallows packets: the server's own limit does not reach us then.
    query_timeout: options.statementTimeoutMs + NETWORK_GRACE_MS,
    application_name: options.applicationName,
    keepAlive: true,
    // By the number of partitions the planner expects much more work than there is, and would compile it for seconds.
    options: '-c jit=off',
    types: {
      getTypeParser(oid: number, format?: 'text' | 'binary') {
        if (oid === INT8_OID && format !== 'binary') return Number;
        return format === 'binary' ? pg.types.getTypeParser(oid, 'binary') : pg.types.getTypeParser(oid, 'text');
      },
    },
  });
  pool.on('error', options.onIdleError);
  return pool;
}

/** Runs `work` in one transaction on one connection. A connection whose transaction failed is not used again. */
export async function inTransaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let failure: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    failure = error instanceof Error ? error : new Error('the transaction failed', { cause: error });
    throw failure;
  } finally {
    client.release(failure);
  }
}
