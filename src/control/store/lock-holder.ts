/** The holder of a lock that a process waits for. The operator may end it; we must not. */
import type pg from 'pg';

export interface LockHolder {
  readonly pid: number;
  /** The name that the client gives itself. */
  readonly applicationName: string;
  /** Null for a local socket, or when it is hidden from us. */
  readonly clientAddress: string | null;
  readonly connectedSince: Date | null;
  /** The time since its last statement, with no transaction open; null while it works. */
  readonly idleMs: number | null;
}

/** Returns null when the advisory lock is free. */
export async function readLockHolder(client: pg.ClientBase | pg.Pool, lock: number): Promise<LockHolder | null> {
  const { rows } = await client.query<LockHolder>(
    `select l.pid, coalesce(a.application_name, '') as "applicationName", host(a.client_addr) as "clientAddress",
       a.backend_start as "connectedSince",
       case a.state when 'idle' then (extract(epoch from clock_timestamp() - a.state_change) * 1000)::int8 end as "idleMs"
     from pg_locks l left join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1
       and l.classid::int8 = 0 and l.objid::int8 = $1
       and l.database = (select oid from pg_database where datname = current_database())
     order by l.pid limit 1`,
    [lock],
  );
  return rows[0] ?? null;
}

/** `process 4711 of 10.0.0.7 ("tollgate jobs", connected since 2026-11-29T03:00:00.000Z)`. */
export function describeLockHolder({ pid, applicationName, clientAddress, connectedSince }: LockHolder): string {
  const from = clientAddress === null ? '' : ` of ${clientAddress}`;
  const since = connectedSince === null ? '' : `, connected since ${connectedSince.toISOString()}`;
  return `process ${pid} of the database${from} ("${applicationName.replace(/[^\x20-\x7e]/g, '?')}"${since})`;
}
