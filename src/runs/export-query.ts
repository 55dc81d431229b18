/**
 * What an export asks the database, and how its rows become records: calls of the log, calls of a run, or runs. No
 * format.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type LogSort, logOrder } from './list-logs.ts';
import { type RunSort, runOrder } from './list-runs.ts';
import { type ColumnKind, isLogColumn, LOG_COLUMNS } from './log-columns.ts';
import { FilterError } from './log-filter.ts';
import { metadataValue } from './log-filter-sql.ts';
import { formatLogRecord, LOG_COLUMN_NAMES, type LogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import { type RunScope, runConditions } from './run-conditions.ts';
import { formatRunRow, RUN_COLUMNS, RUN_FIELDS, type RunField, readRunRow } from './run-row.ts';
import { allOf, type SqlRow } from './run-sql.ts';

export interface ExportColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

export interface ExportQuery {
  readonly query: RawBuilder<unknown>;
  readonly columns: readonly ExportColumn[];
  readonly toRecord: (row: SqlRow) => LogRecord;
}

const MAX_COLUMNS = 100;
const METADATA = 'metadata.';

const RUN_KINDS: Readonly<Record<RunField, ColumnKind>> = {
  trace_id: 'text',
  state: 'text',
  calls: 'integer',
  open_calls: 'integer',
  errors: 'integer',
  client_closed_calls: 'integer',
  total_cost: 'money',
  unpriced_calls: 'integer',
  input_tokens: 'integer',
  cache_read_input_tokens: 'integer',
  cache_creation_input_tokens: 'integer',
  output_tokens: 'integer',
  reasoning_tokens: 'integer',
  started_at: 'time',
  ended_at: 'time',
  duration_ms: 'integer',
  cut_at: 'time',
};

function checkColumns(names: readonly string[], isKnown: (name: string) => boolean): void {
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw new FilterError(`columns: there is no column ${JSON.stringify(unknown)}.`);
  if (names.length > MAX_COLUMNS) throw new FilterError(`columns: at most ${MAX_COLUMNS}.`);
  if (new Set(names).size < names.length) throw new FilterError('columns: a column stands there twice.');
}

function isCallColumn(name: string): boolean {
  return isLogColumn(name) || (name.startsWith(METADATA) && name.length > METADATA.length && !name.includes('\0'));
}

/** Columns are those of the log and `metadata.Key`; all of the log when none is named. */
export function exportCalls(
  scope: LogScope,
  promoted: PromotedKeys,
  traceId: string | null,
  sort: LogSort,
  names: readonly string[] | null,
): ExportQuery {
  if (names !== null) checkColumns(names, isCallColumn);
  const wanted = names ?? LOG_COLUMN_NAMES;
  const logNames = wanted.filter(isLogColumn);
  const keys = wanted.filter((name) => !isLogColumn(name));
  const selected = [
    ...logNames.map((name) => sql`${sql.ref(name)}`),
    // Numbered: a key may have a name that no column can have.
    ...keys.map(
      (name, index) => sql`${metadataValue(name.slice(METADATA.length), promoted)} as ${sql.ref(`key_${index}`)}`,
    ),
  ];
  const conditions = [
    ...logConditions(scope, promoted),
    ...(traceId === null ? [] : [sql<SqlBool>`trace_id = ${traceId}`]),
  ];
  return {
    query: sql`select ${sql.join(selected)} from llm_requests where ${allOf(conditions)} order by ${logOrder(sort)}`,
    columns: wanted.map((name) => ({ name, kind: isLogColumn(name) ? LOG_COLUMNS[name].kind : 'text' })),
    toRecord: (row) => {
      const record = formatLogRecord(row, logNames);
      const values = new Map(keys.map((name, index) => [name, row[`key_${index}`]]));
      return Object.fromEntries(
        wanted.map((name) => {
          const value = values.get(name);
          return [name, typeof value === 'string' ? value : (record[name] ?? null)];
        }),
      );
    },
  };
}

function isRunField(name: string): name is RunField {
  return RUN_FIELDS.some((field) => field === name);
}

/** Runs of which no call has ended have no roll-up, and are not among them. */
export function exportRuns(
  scope: RunScope,
  promoted: PromotedKeys,
  sort: RunSort,
  names: readonly string[] | null,
): ExportQuery {
  if (names !== null) checkColumns(names, isRunField);
  const wanted = (names ?? RUN_FIELDS).filter(isRunField);
  return {
    query: sql`select ${sql.raw(RUN_COLUMNS)} from llm_runs r where ${allOf(runConditions(scope, promoted))} order by ${runOrder(sort)}`,
    columns: wanted.map((name) => ({ name, kind: RUN_KINDS[name] })),
    toRecord: (row) => {
      const run = formatRunRow(readRunRow(row));
      return Object.fromEntries(wanted.map((name) => [name, run[name]]));
    },
  };
}
