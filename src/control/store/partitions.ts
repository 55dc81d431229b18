/** The daily partitions of the log tables: their names and creation. Retention drops them. */
import type pg from 'pg';
import { readDatabaseTime } from './database-clock.ts';

const PARTITIONED_TABLES = ['llm_requests', 'llm_bodies', 'llm_texts'] as const;
export const DAY_MS = 86_400_000;
/** The number is arbitrary and stays the same in every version. */
export const PARTITION_LOCK = 7_461_002;

/** A partition made this long after its day holds late records: a spool that was away, or a wrong clock. */
const LATE_AFTER_MS = DAY_MS;
const LATE_NOTE = /^made late at (\S+)$/;

/** Returns the day (UTC) as `2026-11-28`. */
export function dayOf(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}

/** Returns today and the following days. */
export function daysAhead(nowMs: number, days: number): readonly string[] {
  return Array.from({ length: days + 1 }, (_, index) => dayOf(nowMs + index * DAY_MS));
}

/**
 * Makes the missing partitions of these days: a table is created, then attached, which does not wait for readers. Call
 * it in a transaction, whose end frees the lock.
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
        `create table ${name} (like ${table} including defaults including constraints including storage including compression)`,
      );
      await client.query(
        `alter table ${table} attach partition ${name} for values from ('${day} 00:00:00+00') to ('${next} 00:00:00+00')`,
      );
      const late = Date.parse(next) + LATE_AFTER_MS < nowMs ? `made late at ${new Date(nowMs).toISOString()}` : null;
      // Texts of an upgrade come long after their day, and go with its bodies: they are as late as these.
      const note = table === 'llm_texts' ? await readNote(client, partitionName('llm_bodies', day)) : late;
      if (readLateness(note) !== null) await client.query(`comment on table ${name} is '${note}'`);
    }
  }
}

async function readNote(client: pg.ClientBase, partition: string): Promise<string | null> {
  const { rows } = await client.query<{ note: string | null }>(
    "select obj_description($1::regclass, 'pg_class') as note",
    [partition],
  );
  return rows[0]?.note ?? null;
}

/** `note` is the comment on the partition; returns when it was made if that was late. */
export function readLateness(note: string | null): number | null {
  const madeMs = Date.parse(LATE_NOTE.exec(note ?? '')?.[1] ?? '');
  return Number.isNaN(madeMs) ? null : madeMs;
}

function partitionName(table: string, day: string): string {
  return `${table}_p${day.replaceAll('-', '')}`;
}

/** Reads the catalog: `to_regclass` may answer from a cache older than our wait for the lock. */
async function readMissing(client: pg.ClientBase, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name
     where not exists (select from pg_class where relname = name and relnamespace = current_schema()::regnamespace)`,
    [names],
  );
  return new Set(rows.map((row) => row.name));
}

/** The first instant of the oldest day that a table has; null without any. */
export async function readOldestDay(
  client: pg.ClientBase,
  table: (typeof PARTITIONED_TABLES)[number],
): Promise<Date | null> {
  const { rows } = await client.query<{ day: string | null }>(
    `select min(right(c.relname, 8)) as day from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname ~ '_p[0-9]{8}$'`,
    [table],
  );
  const day = rows[0]?.day ?? null;
  return day === null ? null : new Date(`${day.replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3')}T00:00:00Z`);
}
