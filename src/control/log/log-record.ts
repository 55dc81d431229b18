/** A row of the log as JSON: money as plain decimal text, times in UTC with milliseconds. */
import { formatUsd, parseUsd } from '../../vocabulary/usd.ts';
import { type ColumnKind, kindOf, LOG_COLUMN_NAMES, type LogColumn, type LogRow } from '../store/log-columns.ts';
import type { SqlRow } from './run-sql.ts';

/** Columns of `logs/{id}` that a leaf of a run lacks. */
const LONG_COLUMNS = [
  'account_id',
  'path',
  'error_message',
  'native_usage',
  'usage',
  'cost_lines',
  'estimated_tokens',
] as const satisfies readonly LogColumn[];

export type LeafColumn = Exclude<LogColumn, (typeof LONG_COLUMNS)[number]>;

function isLeafColumn(name: LogColumn): name is LeafColumn {
  return !LONG_COLUMNS.some((long) => long === name);
}

export const LEAF_COLUMN_NAMES: readonly LeafColumn[] = LOG_COLUMN_NAMES.filter(isLeafColumn);

/** Removes the trailing zeros. */
export function formatDatabaseMoney(text: string): string {
  return formatUsd(parseUsd(text));
}

function formatValue(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (kind === 'money') return formatDatabaseMoney(String(value));
  return value instanceof Date ? value.toISOString() : value;
}

/** Untyped rows of the database get the type of the table of columns here. */
export function formatLogRecord<C extends LogColumn>(row: SqlRow, columns: readonly C[]): Pick<LogRow, C>;
export function formatLogRecord(row: SqlRow, columns: readonly LogColumn[]): object {
  return Object.fromEntries(columns.map((name) => [name, formatValue(kindOf(name), row[name])]));
}
