/** A filter of the log as an SQL condition with bound values. Column names come from the closed list, never from text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ColumnKind, LogColumn } from './log-columns.ts';
import type { FilterOp, LogFilter } from './log-filter.ts';
import type { PromotedKeys } from './promoted-keys.ts';

type Condition = RawBuilder<SqlBool>;

/** What a bound text is cast to before it is compared with a column of the kind. */
const SQL_TYPES = {
  text: sql`text`,
  text_list: sql`text`,
  uuid: sql`uuid`,
  integer: sql`int8`,
  money: sql`numeric`,
  time: sql`timestamptz`,
  boolean: sql`bool`,
  json: sql`jsonb`,
} as const satisfies Readonly<Record<ColumnKind, RawBuilder<unknown>>>;

const NUMBER = /^-?\d{1,18}(?:\.\d{1,18})?$/;
const NUMBER_SQL = '^-?\\d{1,18}(\\.\\d{1,18})?$';

function flagsCondition(column: LogColumn, op: FilterOp, values: readonly string[]): Condition {
  const list = sql.ref(column);
  switch (op) {
    case 'has':
      return sql<SqlBool>`cardinality(${list}) > 0`;
    case 'nohas':
      return sql<SqlBool>`cardinality(${list}) = 0`;
    case 'ne':
    case 'nin':
      return sql<SqlBool>`not (${list} && ${values}::text[])`;
    default:
      return sql<SqlBool>`${list} && ${values}::text[]`;
  }
}

/** Null is a value that differs from every other: `ne` and `nin` find it, comparisons do not. */
export function columnCondition(
  name: RawBuilder<unknown>,
  kind: ColumnKind,
  op: FilterOp,
  values: readonly string[],
): Condition {
  const type = SQL_TYPES[kind];
  const value = sql`${values[0] ?? ''}::${type}`;
  switch (op) {
    case 'eq':
      return sql<SqlBool>`${name} = ${value}`;
    case 'ne':
      return sql<SqlBool>`${name} is distinct from ${value}`;
    case 'in':
      return sql<SqlBool>`${name} = any(${values}::${type}[])`;
    case 'nin':
      return sql<SqlBool>`(${name} is null or ${name} <> all(${values}::${type}[]))`;
    case 'gt':
      return sql<SqlBool>`${name} > ${value}`;
    case 'gte':
      return sql<SqlBool>`${name} >= ${value}`;
    case 'lt':
      return sql<SqlBool>`${name} < ${value}`;
    case 'lte':
      return sql<SqlBool>`${name} <= ${value}`;
    case 'has':
      return sql<SqlBool>`${name} is not null`;
    case 'nohas':
      return sql<SqlBool>`${name} is null`;
    case 'prefix':
      return sql<SqlBool>`starts_with(${name}, ${value})`;
    case 'contains':
      return sql<SqlBool>`strpos(${name}, ${value}) > 0`;
  }
}

/** Numbers compare as numbers (9 is below 10), everything else as text. */
function compareMetadata(found: RawBuilder<string | null>, operator: RawBuilder<unknown>, value: string): Condition {
  if (!NUMBER.test(value)) return sql<SqlBool>`${found} ${operator} ${value}`;
  return sql<SqlBool>`case when ${found} ~ ${NUMBER_SQL} then (${found})::numeric ${operator} ${value}::numeric else false end`;
}

/** Header names have no case, so neither have metadata keys. */
function displayKeyOf(key: string, promoted: PromotedKeys): string | undefined {
  return promoted.get(key.toLowerCase());
}

/** The one value of a key in a call, null when the call lacks it. Of a promoted key it need not be looked for. */
export function metadataValue(key: string, promoted: PromotedKeys): RawBuilder<string | null> {
  const displayKey = displayKeyOf(key, promoted);
  return displayKey === undefined
    ? sql<string | null>`metadata_value(raw_metadata, ${key}::text)`
    : sql<string | null>`(indexed_metadata ->> ${displayKey}::text)`;
}

/** Each by itself, since the index answers `@>` of one value only. */
function isOneOfPromoted(displayKey: string, values: readonly string[]): Condition {
  const conditions = values.map(
    (value) => sql<SqlBool>`indexed_metadata @> ${JSON.stringify({ [displayKey]: value })}::jsonb`,
  );
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`;
}

function isOneOf(key: string, values: readonly string[], promoted: PromotedKeys): Condition {
  const displayKey = displayKeyOf(key, promoted);
  if (displayKey !== undefined && values.length > 0) return isOneOfPromoted(displayKey, values);
  return sql<SqlBool>`${metadataValue(key, promoted)} = any(${values}::text[])`;
}

function metadataCondition(key: string, op: FilterOp, values: readonly string[], promoted: PromotedKeys): Condition {
  const value = values[0] ?? '';
  const found = metadataValue(key, promoted);
  switch (op) {
    case 'eq':
    case 'in':
      return isOneOf(key, values, promoted);
    case 'ne':
    case 'nin':
      return sql<SqlBool>`coalesce(${found} <> all(${values}::text[]), true)`;
    case 'gt':
      return compareMetadata(found, sql`>`, value);
    case 'gte':
      return compareMetadata(found, sql`>=`, value);
    case 'lt':
      return compareMetadata(found, sql`<`, value);
    case 'lte':
      return compareMetadata(found, sql`<=`, value);
    case 'has':
      return sql<SqlBool>`${found} is not null`;
    case 'nohas':
      return sql<SqlBool>`${found} is null`;
    case 'prefix':
      return sql<SqlBool>`starts_with(${found}, ${value})`;
    case 'contains':
      return sql<SqlBool>`strpos(${found}, ${value}) > 0`;
  }
}

/** `promoted`: as `readPromotedKeys` gives them, read for this question. */
export function filterCondition({ field, op, values }: LogFilter, promoted: PromotedKeys): Condition {
  if (field.type === 'metadata') return metadataCondition(field.key, op, values, promoted);
  if (field.kind === 'text_list') return flagsCondition(field.column, op, values);
  return columnCondition(sql.ref(field.column), field.kind, op, values);
}
