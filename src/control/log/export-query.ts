/** What an export asks the database, and how rows become records: calls of the log or of a run, or runs. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { namesOf } from '../../vocabulary/record-of.ts';
import { type ColumnKind, isLogColumn, kindOf, LOG_COLUMN_NAMES } from '../store/log-columns.ts';
import { type RunSort, runOrder } from './list-runs.ts';
import { FilterError } from './log-filter.ts';
import { metadataValue } from './log-filter-sql.ts';
import { type LogSort, logOrder } from './log-order.ts';
import { formatLogRecord } from './log-record.ts';
import { type LogScope, logConditions } from './log-scope.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import { type RunScope, runConditions } from './run-conditions.ts';
import { formatRunRow, isRunField, RUN_COLUMNS, RUN_FIELDS, readRunRow } from './run-row.ts';
import { allOf, type SqlRow } from './run-sql.ts';

export interface ExportColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** Keyed by the requested columns, metadata keys among them. */
export type ExportRecord = Readonly<Record<string, unknown>>;

export interface ExportQuery {
  readonly query: RawBuilder<unknown>;
  readonly columns: readonly ExportColumn[];
  readonly toRecord: (row: SqlRow) => ExportRecord;
}

const MAX_COLUMNS = 100;
const METADATA = 'metadata.';

function checkColumns(names: readonly string[], isKnown: (name: string) => boolean): void {
  const unknown = names.find((name) => !isKnown(name));
  if (unknown !== undefined) throw new FilterError(`columns: there is no column ${JSON.stringify(unknown)}.`);
  if (names.length > MAX_COLUMNS) throw new FilterError(`columns: at most ${MAX_COLUMNS}.`);
  if (new Set(names).size < names.length) throw new FilterError('columns: a column stands there twice.');
}

function isCallColumn(name: string): boolean {
  return isLogColumn(name) || (name.startsWith(METADATA) && name.length > METADATA.length && !name.includes('\0'));
}

/** Columns are those of the log and `metadata.Key`; none means all of the log. */
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
    // Columns are numbered, since a key may have a name that no column can have.
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
    columns: wanted.map((name) => ({ name, kind: isLogColumn(name) ? kindOf(name) : 'text' })),
    toRecord: (row) => {
      const record: ExportRecord = formatLogRecord(row, logNames);
      const values = new Map(keys.map((name, index) => [name, row[`key_${index}`]]));
      return Object.fromEntries(wanted.map((name) => [name, record[name] ?? values.get(name) ?? null]));
    },
  };
}

/** Runs without an ended call have no roll-up and are left out. */
export function exportRuns(
  scope: RunScope,
  promoted: PromotedKeys,
  sort: RunSort,
  names: readonly string[] | null,
): ExportQuery {
  if (names !== null) checkColumns(names, isRunField);
  const wanted = (names ?? namesOf(RUN_FIELDS)).filter(isRunField);
  return {
    query: sql`select ${sql.raw(RUN_COLUMNS)} from llm_runs r where ${allOf(runConditions({ ...scope, callsWithin: scope }, promoted))} order by ${runOrder(sort)}`,
    columns: wanted.map((name) => ({ name, kind: RUN_FIELDS[name] })),
    toRecord: (row) => {
      const run = formatRunRow(readRunRow(row));
      return Object.fromEntries(wanted.map((name) => [name, run[name]]));
    },
  };
}
