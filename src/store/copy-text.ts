/**
 * Rows of `llm_requests` as the text format of COPY. Two things that PostgreSQL cannot store are replaced by U+FFFD
 * here: U+0000 and halves of surrogate pairs. https://www.postgresql.org/docs/18/sql-copy.html, "Text Format"
 */
import { type ColumnKind, LLM_REQUEST_COLUMNS, type LlmRequestRow } from './llm-request-row.ts';

export const COPY_COLUMNS = Object.keys(LLM_REQUEST_COLUMNS).join(', ');

const COLUMN_KINDS: readonly (readonly [keyof LlmRequestRow, ColumnKind])[] = listColumns();

function listColumns(): (readonly [keyof LlmRequestRow, ColumnKind])[] {
  const columns: (readonly [keyof LlmRequestRow, ColumnKind])[] = [];
  let name: keyof typeof LLM_REQUEST_COLUMNS;
  for (name in LLM_REQUEST_COLUMNS) columns.push([name, LLM_REQUEST_COLUMNS[name]]);
  return columns;
}

const NULL = '\\N';
const REPLACEMENT = '\uFFFD';
const NEEDS_ESCAPE = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const UNSTORABLE_ESCAPE = /\\u(?:0000|d[89a-f])/i;

/** One line for each row. */
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

/** One row as it is stored: where characters in it had to be replaced for that, it says so. */
export function encodeStoredRow(row: LlmRequestRow): { readonly row: LlmRequestRow; readonly copyText: string } {
  const copyText = encodeCopyText([row]);
  if (!copyText.includes(REPLACEMENT) || isStorable(row)) return { row, copyText };
  const flagged: LlmRequestRow = { ...row, flags: [...row.flags, 'text_replaced'] };
  return { row: flagged, copyText: encodeCopyText([flagged]) };
}

function isStorable(row: LlmRequestRow): boolean {
  return COLUMN_KINDS.every(([name, kind]) => {
    const value = row[name];
    if (kind === 'json') return value === null || storableJson(value) === JSON.stringify(value);
    return typeof value !== 'string' || storableText(value) === value;
  });
}

function encodeValue(kind: ColumnKind, value: NonNullable<LlmRequestRow[keyof LlmRequestRow]>): string {
  switch (kind) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'money':
      return String(value);
    case 'bool':
      return value === true ? 't' : 'f';
    case 'time':
      return value instanceof Date ? value.toISOString() : NULL;
    case 'text':
      return escapeText(storableText(String(value)));
    case 'texts':
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

/** Text without U+0000 and without lone surrogates. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\0', REPLACEMENT);
}

/** JSON text whose strings are all storable; `undefined` members vanish. */
export function storableJson(value: unknown): string {
  const text = JSON.stringify(value);
  // Such an escape is rare, and may still be an escaped backslash before "u0000": only then is every string looked at.
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
