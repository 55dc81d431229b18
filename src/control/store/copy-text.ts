/** Rows in COPY's text format, with U+FFFD for U+0000 and lone surrogates. */
import type { JsonObject } from '../../vocabulary/token-usage.ts';
import { type ColumnKind, kindOf, type LlmRequestRow, LOG_COLUMN_NAMES, type LogColumn } from './log-columns.ts';

/** Known only in the transaction that inserts the row, so it comes last: see `withIndexedMetadata`. */
const LAST_COLUMN = 'indexed_metadata' satisfies LogColumn;
const COLUMNS: readonly LogColumn[] = [...LOG_COLUMN_NAMES.filter((name) => name !== LAST_COLUMN), LAST_COLUMN];

export const COPY_COLUMNS = COLUMNS.join(', ');

const COLUMN_KINDS: readonly (readonly [LogColumn, ColumnKind])[] = COLUMNS.map((name) => [name, kindOf(name)]);

const NULL = '\\N';
const REPLACEMENT = '\uFFFD';
const NEEDS_ESCAPE = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

export function encodeCopyText(rows: readonly LlmRequestRow[]): string {
  let text = '';
  for (const row of rows) {
    let separator = '';
    for (const [name, kind] of COLUMN_KINDS) {
      const value = row[name];
      text += separator + (value === null || value === undefined ? NULL : encodeValue(kind, value));
      separator = '\t';
    }
    text += '\n';
  }
  return text;
}

/** `copyText` is of one row. */
export function withIndexedMetadata(copyText: string, indexed: JsonObject): string {
  return `${copyText.slice(0, copyText.lastIndexOf('\t') + 1)}${escapeText(storableJson(indexed))}\n`;
}

/** Also returns the row as it is stored, which says so when characters were replaced: here, or where bytes were read as text. */
export function encodeStoredRow(row: LlmRequestRow): { readonly row: LlmRequestRow; readonly copyText: string } {
  const copyText = encodeCopyText([row]);
  if (!copyText.includes(REPLACEMENT)) return { row, copyText };
  const flagged: LlmRequestRow = { ...row, flags: [...row.flags, 'text_replaced'] };
  return { row: flagged, copyText: encodeCopyText([flagged]) };
}

function encodeValue(kind: ColumnKind, value: NonNullable<LlmRequestRow[LogColumn]>): string {
  switch (kind) {
    case 'integer':
    case 'money':
      return String(value);
    case 'boolean':
      return value === true ? 't' : 'f';
    case 'time':
      return value instanceof Date ? value.toISOString() : NULL;
    case 'text':
    case 'uuid':
      return escapeText(storableText(String(value)));
    case 'text_list':
      return Array.isArray(value) ? escapeText(`{${value.map((item) => quoteItem(String(item))).join(',')}}`) : NULL;
    case 'json':
      return escapeText(storableJson(value));
  }
}

export function escapeText(text: string): string {
  return NEEDS_ESCAPE.test(text) ? text.replace(/[\\\n\r\t]/g, (character) => ESCAPES[character] ?? character) : text;
}

function quoteItem(item: string): string {
  return `"${storableText(item).replace(/["\\]/g, '\\$&')}"`;
}

/** Replaces U+0000 and lone surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

/** The strings of the JSON text are storable; `undefined` members vanish. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // The escape is rare, and may be a backslash before "u0000": only then is every string looked at.
  if (!UNSTORABLE_ESCAPE.test(text)) return text;
  return JSON.stringify(value, (_name, member: unknown) => storableMember(member));
}

function storableMember(member: unknown): unknown {
  if (typeof member === 'string') return storableText(member);
  if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
  const entries = Object.entries(member);
  if (entries.every(([name]) => storableText(name) === name)) return member;
  return Object.fromEntries(entries.map(([name, inner]) => [storableText(name), inner]));
}
