/** A test's connections to a database of its own, brought to the schema of now. The server is `postgres.ts`. */
import { join } from 'node:path';
import type pg from 'pg';
import { migrate } from '../../src/control/store/migrate.ts';
import { openPool } from '../../src/control/store/pool.ts';

export const MIGRATIONS = join(import.meta.dirname, '..', '..', 'migrations');
/** Large enough for a busy machine. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** As the gateway opens one. A server that is stopped under it is no failure. */
export function openTestPool(connectionString: string, { max }: { readonly max: number } = { max: 4 }): pg.Pool {
  return openPool({
    connectionString,
    max,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'test',
    onIdleError: () => {},
  });
}

export async function openMigrated(connectionString: string, limits?: { readonly max: number }): Promise<pg.Pool> {
  const pool = openTestPool(connectionString, limits);
  await migrate(pool, MIGRATIONS);
  return pool;
}
