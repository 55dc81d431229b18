/**
 * Drops the daily partitions of the log tables that are past their limit, each in its own transaction. What must happen
 * to the roll-ups of a day that goes is the caller's, in the same transaction. It never deletes single rows, and goes
 * by the clock of the database alone.
 */
import pg from 'pg';
import { withAnswerLimit } from './answer-limit.ts';
import type { ReadTime } from './database-clock.ts';
import { DAY_MS, dayOf, PARTITION_LOCK, readLateness } from './partitions.ts';
import { inTransaction, NETWORK_GRACE_MS } from './pool.ts';

/** Any number, the same in every version from 0.3.0 on: who holds it drops partitions. */
export const RETENTION_LOCK = 7_461_015;
/**
 * Who dropped partitions before 0.3.0 held this one, going by the clock and the settings of its own. Every node shares
 * it while it lives, so that an older one beside it deletes nothing.
 */
export const FORMER_RETENTION_LOCK = 7_461_003;
/** What came late is kept so long, if not as long as the limit says: a person may still want to lengthen that. */
const LATE_KEPT_DAYS = 7;
/** Everybody who reads the log queues behind us meanwhile. Longer than the second after which autovacuum gives way. */
const LOCK_TIMEOUT_MS = 2_000;
/** Lock not available, deadlock detected: try the same again later. */
const LOCK_SQLSTATES: ReadonlySet<string> = new Set(['55P03', '40P01']);

export interface RetentionLimits {
  readonly rowsDays: number;
  /** 0: at once. Bodies never outlive their rows. */
  readonly bodiesDays: number;
}

/** A partition: one day (UTC) of a table. */
export interface LogDay {
  readonly table: 'llm_requests' | 'llm_bodies';
  readonly partition: string;
  /** First instant, as SQL reads it. */
  readonly from: string;
  /** First instant after it. */
  readonly to: string;
}

export interface RetentionOptions {
  readonly pool: pg.Pool;
  readonly limits: RetentionLimits;
  /** That of the database, but in tests. Asked again before each day that is dropped. */
  readonly readTime: ReadTime;
  /**
   * Called for a day of `llm_requests` that is about to be dropped. Nobody writes to the log until the transaction
   * ends.
   */
  readonly cutRollups: (client: pg.ClientBase, day: LogDay) => Promise<void>;
  /** For each of its statements; left out: as the pool has it. */
  readonly dayLimitMs?: number | undefined;
}

export interface RetentionResult {
  /** Partitions dropped, or emptied when their day is not over. */
  readonly dropped: readonly string[];
  /** Why the rest waits for the next time: the log is in use, or another node is at it. */
  readonly waitingFor: 'log in use' | 'another node' | null;
}

/** Oldest days first, bodies before rows. Rejects when the database does not answer. */
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
    ...(await listDaysPast(pool, 'llm_bodies', keptDaysOf('llm_bodies', limits), nowMs)),
    ...(await listDaysPast(pool, 'llm_requests', keptDaysOf('llm_requests', limits), nowMs)),
  ];
}

function keptDaysOf(table: LogDay['table'], { rowsDays, bodiesDays }: RetentionLimits): number {
  return table === 'llm_bodies' ? Math.min(bodiesDays, rowsDays) : rowsDays;
}

function isPast(day: LogDay, keptDays: number, nowMs: number): boolean {
  // With a limit of 0 days, that of today has begun to be past.
  const firstKept = dayOf(keptDays === 0 ? nowMs + DAY_MS : nowMs - keptDays * DAY_MS);
  return day.from.slice(0, 10) < firstKept;
}

/** Only partitions with names of ours; who attached others looks after them. */
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
    if (error instanceof pg.DatabaseError && LOCK_SQLSTATES.has(error.code ?? '')) return 'log in use';
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
  // Before the table, in the same order as those who make partitions.
  await client.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK]);
  if (!(await isAttached(client, day))) return 'nothing';
  const nowMs = await options.readTime(client);
  const keptDays = keptDaysOf(table, options.limits);
  if (!isPast(day, keptDays, nowMs)) return 'nothing';
  if (Date.parse(day.to) > nowMs) return keptDays === 0 ? emptyDay(client, partition) : 'nothing';
  if (table === 'llm_requests') {
    // Writers wait, readers do not, until the day is detached.
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

/** A day that is not over keeps its partition: the next record would only make it again. */
async function emptyDay(client: pg.ClientBase, partition: string): Promise<DropEnding> {
  const { rowCount } = await client.query(`select from ${partition} limit 1`);
  if (rowCount === 0) return 'nothing';
  await client.query(`truncate ${partition}`);
  return 'dropped';
}
