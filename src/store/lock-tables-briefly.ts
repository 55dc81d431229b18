/**
 * Changes to tables that others use: a change that waits for its lock holds up everybody who comes after it, so it waits
 * for a moment only, and whoever asked for it tries again.
 */
import pg from 'pg';
import { describeLockHolder, type LockHolder } from './lock-holder.ts';

/** Reads and writes of all nodes stand still for so long at most; then they have their turn. */
const TABLE_LOCK_LIMIT_MS = 2_000;
/** SQLSTATE `lock_not_available`. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Begins a transaction, runs `work` in it and leaves it open. When a lock is not to be had, it throws who is in the way. */
export async function beginBriefly(client: pg.ClientBase, what: string, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${TABLE_LOCK_LIMIT_MS}`);
  try {
    await work();
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
    await client.query('rollback');
    throw new Error(`${what} waits for tables that others use${await describeOldest(client)}; it is tried again`, {
      cause: error,
    });
  }
}

async function describeOldest(client: pg.ClientBase): Promise<string> {
  const { rows } = await client.query<LockHolder & { readonly since: Date }>(
    `select pid, coalesce(application_name, '') as "applicationName", host(client_addr) as "clientAddress",
       backend_start as "connectedSince", null as "idleMs", xact_start as since
     from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
     order by xact_start limit 1`,
  );
  const [oldest] = rows;
  if (oldest === undefined) return '';
  return `: ${describeLockHolder(oldest)} has been in a transaction since ${oldest.since.toISOString()}`;
}
