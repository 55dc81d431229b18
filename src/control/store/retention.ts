/**
 * Drops daily partitions past their limit, each in its own transaction, by the database's clock. It deletes no single
 * rows; the caller corrects the day's roll-ups in the same transaction.
 */

import type pg from 'pg';
import { withAnswerLimit } from './answer-limit.ts';
import type { ReadTime } from './database-clock.ts';
import { DEADLOCK, errorCode, LOCK_NOT_AVAILABLE } from './database-error.ts';
import { DAY_MS, dayOf, PARTITION_LOCK, readLateness } from './partitions.ts';
import { inTransaction, NETWORK_GRACE_MS } from './pool.ts';

/** The number stays the same in every version from 0.3.0 on. */
export const RETENTION_LOCK = 7_461_015;
/** Releases before 0.3.0 drop partitions under this lock; every node shares it, so that they delete nothing. */
export const FORMER_RETENTION_LOCK = 7_461_003;
/** Late days are kept at least this long, so that a person can still raise the limit. */
const LATE_KEPT_DAYS = 7;
/** Readers of the log queue behind us meanwhile. It exceeds the second after which autovacuum gives way. */
const LOCK_TIMEOUT_MS = 2_000;

export interface RetentionLimits {
  readonly rowsDays: number;
  /** 0 drops at once. Bodies never outlive their rows, nor texts their bodies. */
  readonly bodiesDays: number;
}

/** A partition: one day (UTC) of a table. */
export interface LogDay {
  readonly table: 'llm_requests' | 'llm_bodies' | 'llm_texts';
  readonly partition: string;
  /** The first instant, as an SQL literal. */
  readonly from: string;
  /** The first instant after the day. */
  readonly to: string;
}

export interface RetentionOptions {
  readonly pool: pg.Pool;
  readonly limits: RetentionLimits;
  /** The database's clock except in tests, read again before each day. */
  readonly readTime: ReadTime;
  /** Called before a day of `llm_requests` is dropped, while nobody can write to the log. */
  readonly cutRollups: (client: pg.ClientBase, day: LogDay) => Promise<void>;
  /** The limit of each statement; the pool's by default. */
  readonly dayLimitMs?: number | undefined;
}

export interface RetentionResult {
  /** Partitions dropped, or emptied when their day is not over. */
  readonly dropped: readonly string[];
  /** Why the rest waits for the next time. */
  readonly waitingFor: 'log in use' | 'another node' | null;
}

/** Oldest days first; texts before their bodies, and these before rows. Rejects when the database does not answer. */
export async function applyRetention(options: RetentionOptions): Promise<RetentionResult> {
  const dropped: string[] = [];
  for (const day of await listPastDays(options)) {
    const ending = await tryDrop(day, options);
    if (ending === 'dropped') dropped.push(day.partition);
    else if (ending !== 'nothing') return { dropped, waitingFor: ending };
  }
  return { dropped, waitingFor: null };
}

async function listPastDays({ pool, limits, readTime }: RetentionOptions): Promise<readonly LogDay[]> {
  const nowMs = await readTime(pool);
  return [
    ...(await listDaysPast(pool, 'llm_texts', keptDaysOf('llm_texts', limits), nowMs)),
    ...(await listDaysPast(pool, 'llm_bodies', keptDaysOf('llm_bodies', limits), nowMs)),
    ...(await listDaysPast(pool, 'llm_requests', keptDaysOf('llm_requests', limits), nowMs)),
  ];
}

function keptDaysOf(table: LogDay['table'], { rowsDays, bodiesDays }: RetentionLimits): number {
  return table === 'llm_requests' ? rowsDays : Math.min(bodiesDays, rowsDays);
}

function isPast(day: LogDay, keptDays: number, nowMs: number): boolean {
  // With a limit of 0 days, today is past already.
  const firstKept = dayOf(keptDays === 0 ? nowMs + DAY_MS : nowMs - keptDays * DAY_MS);
  return day.from.slice(0, 10) < firstKept;
}

/** Lists only partitions with our names; an operator's own are left alone. */
async function listDaysPast(
  pool: pg.Pool,
  table: LogDay['table'],
  keptDays: number,
  nowMs: number,
): Promise<readonly LogDay[]> {
  const { rows } = await pool.query<{ name: string; note: string | null }>(
    `select c.relname as name, obj_description(c.oid, 'pg_class') as note
     from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname ~ $2 order by 1`,
    [table, `^${table}_p\\d{8}$`],
  );
  const keptLateMs = Math.min(keptDays, LATE_KEPT_DAYS) * DAY_MS;
  return rows
    .filter(({ note }) => nowMs >= (readLateness(note) ?? 0) + keptLateMs)
    .map(({ name }) => readDay(table, name))
    .filter((day) => day !== null)
    .filter((day) => isPast(day, keptDays, nowMs));
}

function readDay(table: LogDay['table'], partition: string): LogDay | null {
  const day = partition.slice(-8).replace(/(\d{4})(\d\d)(\d\d)/, '$1-$2-$3');
  const startMs = Date.parse(day);
  if (Number.isNaN(startMs)) return null;
  return { table, partition, from: `${day} 00:00:00+00`, to: `${dayOf(startMs + DAY_MS)} 00:00:00+00` };
}

type DropEnding = 'dropped' | 'nothing' | 'log in use' | 'another node';

async function tryDrop(day: LogDay, options: RetentionOptions): Promise<DropEnding> {
  try {
    return await inTransaction(options.pool, async (client) => {
      const { dayLimitMs } = options;
      if (dayLimitMs === undefined) return dropDay(client, day, options);
      await client.query(`set local statement_timeout = ${dayLimitMs}`);
      return dropDay(withAnswerLimit(client, dayLimitMs + NETWORK_GRACE_MS), day, options);
    });
  } catch (error) {
    if ([LOCK_NOT_AVAILABLE, DEADLOCK].includes(errorCode(error))) return 'log in use';
    throw error;
  }
}

async function dropDay(client: pg.ClientBase, day: LogDay, options: RetentionOptions): Promise<DropEnding> {
  const { table, partition } = day;
  const { rows } = await client.query<{ isOurs: boolean }>('select pg_try_advisory_xact_lock($1) as "isOurs"', [
    RETENTION_LOCK,
  ]);
  if (rows[0]?.isOurs !== true) return 'another node';
  await client.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  // The lock comes before the table's, in the order of those who make partitions.
  await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  if (!(await isAttached(client, day))) return 'nothing';
  const nowMs = await options.readTime(client);
  const keptDays = keptDaysOf(table, options.limits);
  if (!isPast(day, keptDays, nowMs)) return 'nothing';
  if (Date.parse(day.to) > nowMs) return keptDays === 0 ? emptyDay(client, day) : 'nothing';
  await forgetSearched(client, day);
  if (table === 'llm_requests') {
    // Writers wait until the day is detached; readers do not.
    await client.query(`lock table only ${table} in share row exclusive mode`);
    await options.cutRollups(client, day);
  }
  await client.query(`alter table ${table} detach partition ${partition}`);
  await client.query(`drop table ${partition}`);
  return 'dropped';
}

async function isAttached(client: pg.ClientBase, { table, partition }: LogDay): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::regclass and c.relname = $2`,
    [table, partition],
  );
  return rowCount === 1;
}

/** A current day keeps its partition, which the next record would only make again. */
async function emptyDay(client: pg.ClientBase, day: LogDay): Promise<DropEnding> {
  const { rowCount } = await client.query(`select from ${day.partition} limit 1`);
  if (rowCount === 0) return 'nothing';
  await forgetSearched(client, day);
  await client.query(`truncate ${day.partition}`);
  return 'dropped';
}

/** The search index has hashes of what was written: it goes with its texts. */
async function forgetSearched(client: pg.ClientBase, { table, from, to }: LogDay): Promise<void> {
  if (table === 'llm_bodies') return;
  const segments = table === 'llm_texts' ? 'llm_search_texts' : 'llm_search_calls';
  await client.query(`delete from ${segments} where first_at >= $1 and first_at < $2`, [from, to]);
}
