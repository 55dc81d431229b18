/**
 * A page of the log: any filters, keyset paging on (requested_at, id), which never change; or on a measure before them.
 * Without a measure a call counts as -1. New calls never move others; only a changed price moves a call sorted by cost.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import type { LogColumn } from './log-columns.ts';
import { formatLogRecord, type LogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import { readPromotedKeysFor } from './promoted-keys.ts';
import { allOf, type Condition, runSql } from './run-sql.ts';

/** A minus in front: from the newest or the most. */
export const LOG_SORTS = [
  '-requested_at',
  'requested_at',
  '-total_cost',
  'total_cost',
  '-duration_ms',
  'duration_ms',
  '-output_tokens',
  'output_tokens',
] as const;
export type LogSort = (typeof LOG_SORTS)[number];

export interface LogQuery extends LogScope {
  readonly sort: LogSort;
  /** Columns of each row. */
  readonly columns: readonly LogColumn[];
}

/** The last row of the page before. */
export interface LogPosition {
  readonly requestedAt: Date;
  readonly id: string;
}

export interface SortedLogPosition extends LogPosition {
  /** The measure that is sorted by, as a decimal; null when it is time alone. */
  readonly value: string | null;
}

export interface LogPage<P extends LogPosition = LogPosition> {
  readonly records: readonly LogRecord[];
  /** Null on the last page. */
  readonly next: P | null;
}

/** Null when the order is by time alone. */
function measureOf(sort: LogSort): RawBuilder<unknown> | null {
  const column = sort.replace('-', '');
  return column === 'requested_at' ? null : sql`coalesce(${sql.ref(column)}, -1)`;
}

/** `order by` of a whole question. */
export function logOrder(sort: LogSort): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  const measure = measureOf(sort);
  const first = measure === null ? sql`` : sql`${measure} ${direction}, `;
  return sql`${first}requested_at ${direction}, id ${direction}`;
}

function afterCondition(sort: LogSort, { requestedAt, id, value }: SortedLogPosition): Condition {
  const isDescending = sort.startsWith('-');
  const follows = isDescending ? sql`<` : sql`>`;
  const measure = measureOf(sort);
  if (measure !== null)
    return sql<SqlBool>`(${measure}, requested_at, id) ${follows} (${value}::numeric, ${requestedAt}::timestamptz, ${id}::uuid)`;
  // The second condition says the same of the time alone: by it the planner leaves out whole days.
  const bound = isDescending ? sql`<=` : sql`>=`;
  return sql<SqlBool>`(requested_at, id) ${follows} (${requestedAt}::timestamptz, ${id}::uuid) and requested_at ${bound} ${requestedAt}`;
}

export async function listLogs(
  pool: pg.Pool,
  query: LogQuery,
  after: SortedLogPosition | null,
  limit: number,
): Promise<LogPage<SortedLogPosition>> {
  const { sort } = query;
  const conditions = [
    ...logConditions(query, await readPromotedKeysFor(pool, query.accountId, query.filters)),
    ...(after === null ? [] : [afterCondition(sort, after)]),
  ];
  const measure = measureOf(sort);
  const columns = [...new Set<LogColumn>(['id', 'requested_at', ...query.columns])].map((name) => sql.ref(name));
  if (measure !== null) columns.push(sql`${measure}::text as sort_value`);
  const rows = await runSql(
    pool,
    sql`select ${sql.join(columns)} from llm_requests where ${allOf(conditions)}
      order by ${logOrder(sort)} limit ${limit + 1}`,
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  const next =
    last?.['requested_at'] instanceof Date
      ? {
          requestedAt: last['requested_at'],
          id: String(last['id']),
          value: measure === null ? null : String(last['sort_value']),
        }
      : null;
  return { records: page.map((row) => formatLogRecord(row, query.columns)), next };
}
