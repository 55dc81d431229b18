/** A page of the log: any filters, newest or oldest first, keyset paging on (requested_at, id), which never change. */
import { Kysely, PostgresDialect, type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import type { LogFilter } from './log-filter.ts';
import { filterCondition } from './log-filter-sql.ts';
import { formatLogRecord, LOG_COLUMN_NAMES, type LogRecord } from './log-record.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';

export interface LogQuery {
  readonly accountId: number;
  readonly filters: readonly LogFilter[];
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
  readonly excludeRuns: boolean;
  readonly order: 'newest_first' | 'oldest_first';
}

/** The last row of the page before. */
export interface LogPosition {
  readonly requestedAt: Date;
  readonly id: string;
}

export interface LogPage {
  readonly records: readonly LogRecord[];
  /** Null on the last page. */
  readonly next: LogPosition | null;
}

function conditionsOf(query: LogQuery, promoted: PromotedKeys): RawBuilder<SqlBool>[] {
  const conditions = [
    sql<SqlBool>`account_id = ${query.accountId}`,
    ...query.filters.map((filter) => filterCondition(filter, promoted)),
  ];
  if (query.from !== null) conditions.push(sql<SqlBool>`requested_at >= ${query.from}`);
  if (query.to !== null) conditions.push(sql<SqlBool>`requested_at < ${query.to}`);
  if (query.excludeRuns) conditions.push(sql<SqlBool>`trace_id is null`);
  return conditions;
}

export const LOG_COLUMN_LIST = sql.join(LOG_COLUMN_NAMES.map((name) => sql.ref(name)));

export async function runSql(pool: pg.Pool, query: RawBuilder<unknown>): Promise<readonly Record<string, unknown>[]> {
  // Only a compiler around the pool: nothing to close.
  const database = new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) });
  const { sql: text, parameters } = query.compile(database);
  const { rows } = await pool.query<Record<string, unknown>>(text, [...parameters]);
  return rows;
}

export async function listLogs(
  pool: pg.Pool,
  query: LogQuery,
  after: LogPosition | null,
  limit: number,
): Promise<LogPage> {
  const isDescending = query.order === 'newest_first';
  const conditions = conditionsOf(query, await readPromotedKeysFor(pool, query.accountId, query.filters));
  if (after !== null) {
    const { requestedAt, id } = after;
    // The second condition says the same of the time alone: by it the planner leaves out whole days.
    conditions.push(
      isDescending
        ? sql<SqlBool>`(requested_at, id) < (${requestedAt}::timestamptz, ${id}::uuid) and requested_at <= ${requestedAt}`
        : sql<SqlBool>`(requested_at, id) > (${requestedAt}::timestamptz, ${id}::uuid) and requested_at >= ${requestedAt}`,
    );
  }
  const direction = isDescending ? sql`desc` : sql`asc`;
  const rows = await runSql(
    pool,
    sql`select ${LOG_COLUMN_LIST} from llm_requests where ${sql.join(conditions, sql` and `)}
      order by requested_at ${direction}, id ${direction} limit ${limit + 1}`,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const next =
    last?.['requested_at'] instanceof Date ? { requestedAt: last['requested_at'], id: String(last['id']) } : null;
  return { records: page.map((row) => formatLogRecord(row, LOG_COLUMN_NAMES)), next };
}
