/** The orders of calls, and places in them: a page goes on behind one. A call without the measure counts as -1. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { formatDatabaseMoney } from './log-record.ts';
import type { Condition, SqlRow } from './run-sql.ts';

/** A minus stands for descending. */
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

export interface LogPosition {
  readonly requestedAt: Date;
  readonly id: string;
}

export interface SortedLogPosition extends LogPosition {
  /** The sorted measure as a decimal; null when calls are sorted by time alone. */
  readonly value: string | null;
}

export function measureOf(sort: LogSort): RawBuilder<unknown> | null {
  const column = sort.replace('-', '');
  return column === 'requested_at' ? null : sql`coalesce(${sql.ref(column)}, -1)`;
}

/** Only a value of the column's own type is compared by an index. */
function measureType(sort: LogSort): RawBuilder<unknown> {
  return sort.endsWith('total_cost') ? sql`numeric` : sql`int8`;
}

export function logOrder(sort: LogSort): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  const measure = measureOf(sort);
  const first = measure === null ? sql`` : sql`${measure} ${direction}, `;
  return sql`${first}requested_at ${direction}, id ${direction}`;
}

export function afterCondition(sort: LogSort, { requestedAt, id, value }: SortedLogPosition): Condition {
  const isDescending = sort.startsWith('-');
  const follows = isDescending ? sql`<` : sql`>`;
  const measure = measureOf(sort);
  if (measure !== null)
    return sql<SqlBool>`(${measure}, requested_at, id) ${follows} (${value}::numeric::${measureType(sort)}, ${requestedAt}::timestamptz, ${id}::uuid)`;
  // The second condition repeats the bound on time, so that the planner leaves out whole days.
  const bound = isDescending ? sql`<=` : sql`>=`;
  return sql<SqlBool>`(requested_at, id) ${follows} (${requestedAt}::timestamptz, ${id}::uuid) and requested_at ${bound} ${requestedAt}`;
}

/** Precedes every id in an ascending order and follows none in a descending one. */
export const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Null without a row. */
export function positionOf(last: SqlRow | undefined): SortedLogPosition | null {
  if (!(last?.['requested_at'] instanceof Date)) return null;
  const value = last['sort_value'];
  return {
    requestedAt: last['requested_at'],
    id: String(last['id']),
    value: value === undefined ? null : String(value),
  };
}

/** For people: a time, or the value of the measure. */
export function formatPlace({ requestedAt, value }: SortedLogPosition, sort: LogSort): string {
  if (value === null) return requestedAt.toISOString();
  return sort.endsWith('total_cost') && !value.startsWith('-') ? formatDatabaseMoney(value) : value;
}
