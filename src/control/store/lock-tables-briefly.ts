/** Changes to tables in use. A waiting lock holds up everybody after it, so it waits briefly and the caller retries. */

import type pg from 'pg';
import { errorCode, LOCK_NOT_AVAILABLE } from './database-error.ts';
import { describeLockHolder, type LockHolder } from './lock-holder.ts';

/** Reads and writes of all nodes stand still for this time at most. */
const TABLE_LOCK_LIMIT_MS = 2_000;

/** Runs `work` in a new transaction and leaves that open. Without the lock, it throws who holds it. */
export async function beginBriefly(client: pg.ClientBase, what: string, work: () => Promise<unknown>): Promise<void> {
  await client.query('begin');
  await client.query(`set local lock_timeout = ${TABLE_LOCK_LIMIT_MS}`);
  try {
    await work();
  } catch (error) {
    if (errorCode(error) !== LOCK_NOT_AVAILABLE) throw error;
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
