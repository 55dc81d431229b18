/** Records as lines of an export: CSV that a spreadsheet does not execute, or JSON, one object a line. */
import { stringify } from 'csv-stringify/sync';
import type { ExportColumn } from '../runs/export-query.ts';
import type { ColumnKind } from '../runs/log-columns.ts';
import type { LogRecord } from '../runs/log-record.ts';
import type { JsonValue } from '../token-usage.ts';

export type ExportFormatName = 'csv' | 'ndjson';

export interface ExportFormat {
  readonly contentType: string;
  /** Before the first record. */
  readonly head: string;
  readonly toLines: (records: readonly LogRecord[]) => string;
}

/** A lone carriage return breaks a line in some readers, so it is quoted too. */
const CSV_OPTIONS = { record_delimiter: '\n', quoted_match: /[\r\n]/ } as const;

/** Kinds whose values are made by the gateway, and are no formulas: a minus in front of a number is a minus. */
const PLAIN_KINDS: readonly ColumnKind[] = ['uuid', 'integer', 'money', 'time', 'boolean'];

/** What a spreadsheet would read as a formula gets an apostrophe, which it shows as text. */
function guardFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function textOf(value: JsonValue): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return JSON.stringify(value);
}

function toCell(kind: ColumnKind, value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '';
  return PLAIN_KINDS.includes(kind) ? textOf(value) : guardFormula(textOf(value));
}

export function createExportFormat(name: ExportFormatName, columns: readonly ExportColumn[]): ExportFormat {
  switch (name) {
    case 'csv':
      return {
        contentType: 'text/csv; charset=utf-8; header=present',
        // A name of a column may come from a client: metadata keys do.
        head: stringify([columns.map((column) => guardFormula(column.name))], CSV_OPTIONS),
        toLines: (records) =>
          stringify(
            records.map((record) => columns.map(({ name: column, kind }) => toCell(kind, record[column]))),
            CSV_OPTIONS,
          ),
      };
    case 'ndjson':
      return {
        contentType: 'application/x-ndjson; charset=utf-8',
        head: '',
        toLines: (records) => records.map((record) => `${JSON.stringify(record)}\n`).join(''),
      };
  }
}
