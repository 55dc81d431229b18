/** A filter of the log, `<column or metadata.Key>:<op>:<value>[,<value>]`, read from text. */

import { parseUsd } from '../../vocabulary/usd.ts';
import { isUuid } from '../../vocabulary/uuid.ts';
import { type ColumnKind, isLogColumn, kindOf, type LogColumn } from '../store/log-columns.ts';

const FILTER_OPS = ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'has', 'nohas', 'prefix', 'contains'] as const;
export type FilterOp = (typeof FILTER_OPS)[number];

export type FilterField =
  | { readonly type: 'column'; readonly column: LogColumn; readonly kind: ColumnKind }
  /** The model that served the call, else the requested one: what costs are grouped by. */
  | { readonly type: 'any_model' }
  | { readonly type: 'metadata'; readonly key: string };

export interface Filter<F> {
  readonly field: F;
  readonly op: FilterOp;
  /** Decoded and checked against the column's kind; empty for `has` and `nohas`, several for `in` and `nin`. */
  readonly values: readonly string[];
}

export type LogFilter = Filter<FilterField>;

export class FilterError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FilterError';
  }
}

const MAX_VALUES = 100;
const MAX_FILTER_CHARS = 8_192;

const OPS_BY_KIND: Readonly<Record<ColumnKind, readonly FilterOp[]>> = {
  text: FILTER_OPS,
  uuid: ['eq', 'ne', 'in', 'nin', 'has', 'nohas'],
  integer: ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'has', 'nohas'],
  money: ['eq', 'ne', 'in', 'nin', 'gt', 'gte', 'lt', 'lte', 'has', 'nohas'],
  time: ['eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'has', 'nohas'],
  boolean: ['eq', 'ne', 'has', 'nohas'],
  text_list: ['eq', 'ne', 'in', 'nin', 'has', 'nohas'],
  json: ['has', 'nohas'],
};

const TIME = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;

/** JavaScript reads February 30 as March 2; the database refuses it, and the year 0. */
function isCalendarDay(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  return year >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/** The database takes offsets below 16 hours; real ones reach 14. */
function isRealOffset(text: string): boolean {
  const hours = /[+-](\d{2}):\d{2}$/.exec(text.slice(10))?.[1];
  return hours === undefined || Number(hours) < 16;
}

/** Reads a date or an RFC 3339 time with a zone; returns null for anything else. */
export function parseTime(text: string): Date | null {
  if (!TIME.test(text) || !isCalendarDay(text) || !isRealOffset(text)) return null;
  const date = new Date(text);
  // An offset at either end leads to a year that is written otherwise; there it is no number either.
  const year = date.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? date : null;
}

function isMoney(text: string): boolean {
  try {
    parseUsd(text);
    return true;
  } catch {
    return false;
  }
}

function isOfKind(kind: ColumnKind, value: string): boolean {
  switch (kind) {
    case 'uuid':
      return isUuid(value);
    case 'integer':
      return /^-?\d{1,15}$/.test(value);
    case 'money':
      return value.length <= 24 && isMoney(value);
    case 'time':
      return parseTime(value) !== null;
    case 'boolean':
      return value === 'true' || value === 'false';
    case 'text':
    case 'text_list':
      // PostgreSQL text cannot contain U+0000, so nothing equals it.
      return !value.includes('\0');
    case 'json':
      return false;
  }
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new FilterError(
      `${what} has a "%" that is not followed by two hexadecimal digits of valid UTF-8; write %25.`,
    );
  }
}

function parseField(text: string): FilterField {
  const prefix = 'metadata.';
  if (text.startsWith(prefix)) {
    const key = decode(text.slice(prefix.length), 'The metadata key');
    if (key === '' || key.includes('\0')) throw new FilterError('The filter names no metadata key after "metadata.".');
    return { type: 'metadata', key };
  }
  if (text === 'any_model') return { type: 'any_model' };
  if (!isLogColumn(text))
    throw new FilterError(
      `There is no column ${JSON.stringify(text)}. Columns are named as in the log's JSON, or any_model; metadata as metadata.Key.`,
    );
  return { type: 'column', column: text, kind: kindOf(text) };
}

function isFilterOp(text: string): text is FilterOp {
  return FILTER_OPS.some((op) => op === text);
}

function kindOfField(field: FilterField): ColumnKind {
  return field.type === 'column' ? field.kind : 'text';
}

/** Throws a FilterError. */
export function parseLogFilter(text: string): LogFilter {
  return parseFilter(text, parseField, kindOfField);
}

/** Reads one filter over a given list of fields. Throws a FilterError. */
export function parseFilter<F>(
  text: string,
  readField: (name: string) => F,
  readKind: (field: F) => ColumnKind,
): Filter<F> {
  if (text.length > MAX_FILTER_CHARS) throw new FilterError(`A filter is longer than ${MAX_FILTER_CHARS} characters.`);
  const [name = '', opText = '', ...rest] = text.split(':');
  const field = readField(name);
  if (!isFilterOp(opText))
    throw new FilterError(`Write a filter as column:op:value, where op is one of ${FILTER_OPS.join(', ')}.`);
  const kind = readKind(field);
  if (!OPS_BY_KIND[kind].includes(opText))
    throw new FilterError(`${name} can be filtered by ${OPS_BY_KIND[kind].join(', ')}; not by ${opText}.`);
  if (opText === 'has' || opText === 'nohas') {
    if (rest.join(':') !== '') throw new FilterError(`${name}:${opText} takes no value.`);
    return { field, op: opText, values: [] };
  }
  if (rest.length === 0) throw new FilterError(`${name}:${opText} needs a value.`);
  if (rest.length > 1 && kind !== 'time') throw new FilterError('Write a colon inside a value as %3A.');
  const valueText = rest.join(':');
  const isList = opText === 'in' || opText === 'nin';
  const parts = valueText.split(',');
  if (!isList && parts.length > 1)
    throw new FilterError('Write a comma inside a value as %2C; only in and nin take several values.');
  if (parts.length > MAX_VALUES) throw new FilterError(`${opText} takes at most ${MAX_VALUES} values.`);
  const values = parts.map((part) => decode(part, 'The value'));
  for (const value of values)
    if (!isOfKind(kind, value))
      throw new FilterError(`${JSON.stringify(value)} is not a ${KIND_WORDS[kind]}, which ${name} is.`);
  return { field, op: opText, values };
}

const KIND_WORDS: Readonly<Record<ColumnKind, string>> = {
  text: 'text without U+0000',
  uuid: 'UUID',
  integer: 'whole number',
  money: 'plain decimal amount of US dollars such as 0.0005',
  time: 'time such as 2026-11-20T14:00:00Z',
  boolean: 'truth value (true or false)',
  text_list: 'text without U+0000',
  json: 'value that can be compared',
};
