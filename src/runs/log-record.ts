/** A row of the log as JSON: money as plain decimal text, times in UTC with milliseconds, the rest as it is. */
import type { JsonValue } from '../token-usage.ts';
import { formatUsd, parseUsd } from '../usd.ts';
import { type ColumnKind, LOG_COLUMNS, type LogColumn } from './log-columns.ts';

export type LogRecord = Readonly<Record<string, JsonValue>>;

export const LOG_COLUMN_NAMES: readonly LogColumn[] = listColumnNames();

function listColumnNames(): LogColumn[] {
  const names: LogColumn[] = [];
  let name: LogColumn;
  for (name in LOG_COLUMNS) names.push(name);
  return names;
}

/** The columns of a leaf of a run: all but the long ones, which `logs/{id}` has. */
export const LEAF_COLUMN_NAMES: readonly LogColumn[] = LOG_COLUMN_NAMES.filter(
  (name) =>
    !['account_id', 'path', 'error_message', 'native_usage', 'usage', 'cost_lines', 'estimated_tokens'].includes(name),
);

/** Money as the database prints it, without trailing zeros. */
export function formatDatabaseMoney(text: string): string {
  return formatUsd(parseUsd(text));
}

/** What `JSON.parse` and the database's `jsonb` yield is JSON; anything else would be a defect of the query. */
export function toJsonValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.map(toJsonValue);
  if (typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, toJsonValue(inner)]));
  throw new TypeError(`a column holds ${typeof value}`);
}

function formatValue(kind: ColumnKind, value: unknown): JsonValue {
  if (value === null || value === undefined) return null;
  if (kind === 'money') return formatDatabaseMoney(String(value));
  if (value instanceof Date) return value.toISOString();
  return toJsonValue(value);
}

export function formatLogRecord(row: Readonly<Record<string, unknown>>, columns: readonly LogColumn[]): LogRecord {
  return Object.fromEntries(columns.map((name) => [name, formatValue(LOG_COLUMNS[name].kind, row[name])]));
}
