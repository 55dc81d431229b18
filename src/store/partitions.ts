/** The daily partitions of the log tables: their names, and making those that are needed. Dropping is retention's. */
import type pg from 'pg';
import { readDatabaseTime } from './database-clock.ts';

const PARTITIONED_TABLES = ['llm_requests', 'llm_bodies'] as const;
export const DAY_MS = 86_400_000;
/** Any number, the same in every version: who holds it makes partitions. */
export const PARTITION_LOCK = 7_461_002;

/**
 * A day whose partition is made so long after its end has come late: from a spool that was away, or by a wrong clock.
 */
const LATE_AFTER_MS = DAY_MS;
const LATE_NOTE = /^made late at (\S+)$/;

/** The day (UTC) of an instant, as `2026-11-28`. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** Today and the days after it, which are made ahead. */
export function daysAhead(nowMs: number, days: number): readonly string[] {
  return Array.from({ length: days + 1 }, (_, index) => dayOf(nowMs + index * DAY_MS));
}

/**
 * Makes the partitions of these days where they are missing. A new table is made first and then attached, which does
 * not wait for those who read the log. Call it inside a transaction: the lock lasts until its end.
 */
export async function ensurePartitions(client: pg.ClientBase, days: readonly string[]): Promise<void> {
  const names = PARTITIONED_TABLES.flatMap((table) => days.map((day) => partitionName(table, day)));
  if ((await readMissing(client, names)).size === 0) return;
  await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  const missing = await readMissing(client, names);
  const nowMs = await readDatabaseTime(client);
  for (const table of PARTITIONED_TABLES) {
    for (const day of [...days].sort()) {
      const name = partitionName(table, day);
      if (!missing.has(name)) continue;
      const next = dayOf(Date.parse(day) + DAY_MS);
      await client.query(
        `create table ${name} (like ${table} including defaults including constraints including storage)`,
      );
      await client.query(
        `alter table ${table} attach partition ${name} for values from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`,
      );
      if (Date.parse(next) + LATE_AFTER_MS < nowMs)
        await client.query(`comment on table ${name} is 'made late at ${new Date(nowMs).toISOString()}'`);
    }
  }
}

/** When a partition was made, if that was long after its day; `note` is the comment on it. */
export function readLateness(note: string | null): number | null {
  const madeMs = Date.parse(LATE_NOTE.exec(note ?? '')?.[1] ?? '');
  return Number.isNaN(madeMs) ? null : madeMs;
}

function partitionName(table: string, day: string): string {
  return `${table}_p${day.replaceAll('-', '')}`;
}

/**
 * Reads the catalogue itself: `to_regclass` may answer from a cache that does not know yet what was made while we
 * waited for the lock.
 */
async function readMissing(client: pg.ClientBase, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where not exists (select from pg_class where relname = name and relnamespace = current_schema()::regnamespace)`,
    [names],
  );
  return new Set(rows.map((row) => row.name));
}
