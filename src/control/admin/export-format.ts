/** Rows of an export as CSV that a spreadsheet does not execute, or as JSON lines. */
import { stringify } from 'csv-stringify/sync';
import type { ExportColumn, ExportRecord } from '../log/export-query.ts';
import type { ColumnKind } from '../store/log-columns.ts';

export type ExportFormatName = 'csv' | 'ndjson';

export interface ExportFormat {
  readonly contentType: string;
  readonly head: string;
  readonly toLines: (records: readonly ExportRecord[]) => string;
}

/** A lone carriage return breaks a line in some readers, so it is quoted too. */
const CSV_OPTIONS = { record_delimiter: '\n', quoted_match: /[\r\n]/ } as const;

/** The gateway makes these values, so a minus is no formula. */
const PLAIN_KINDS: readonly ColumnKind[] = ['uuid', 'integer', 'money', 'time', 'boolean'];

/** An apostrophe makes a spreadsheet show a formula as text. */
function guardFormula(text: string): string {
  return /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(textOf).join(' ');
  return JSON.stringify(value);
}

function toCell(kind: ColumnKind, value: unknown): string {
  if (value === null || value === undefined) return '';
  return PLAIN_KINDS.includes(kind) ? textOf(value) : guardFormula(textOf(value));
}

export function createExportFormat(name: ExportFormatName, columns: readonly ExportColumn[]): ExportFormat {
  switch (name) {
    case 'csv':
      return {
        contentType: 'text/csv; charset=utf-8; header=present',
        // A column's name may be a client's metadata key.
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
