/** A filter of the log as SQL with bound values. Column names come from the closed list, never from text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ColumnKind, LogColumn } from '../store/log-columns.ts';
import { anyModelTerms, columnTerms, metadataTerms } from './call-terms.ts';
import type { FilterOp, LogFilter } from './log-filter.ts';
import type { PromotedKeys } from './promoted-keys.ts';

type Condition = RawBuilder<SqlBool>;

/** The cast of a bound text before it is compared. */
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

/** Null differs from every value: `ne` and `nin` find it, comparisons do not. */
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

/** Numbers are compared as numbers, everything else as text. */
function compareMetadata(found: RawBuilder<string | null>, operator: RawBuilder<unknown>, value: string): Condition {
  if (!NUMBER.test(value)) return sql<SqlBool>`${found} ${operator} ${value}`;
  return sql<SqlBool>`case when ${found} ~ ${NUMBER_SQL} then (${found})::numeric ${operator} ${value}::numeric else false end`;
}

/** The value of a key in a call, or null. */
export function metadataValue(key: string, promoted: PromotedKeys): RawBuilder<string | null> {
  const displayKey = promoted.get(key.toLowerCase());
  return displayKey === undefined
    ? sql<string | null>`metadata_value(raw_metadata, ${key}::text)`
    : sql<string | null>`(indexed_metadata ->> ${displayKey}::text)`;
}

function isOneOf(key: string, values: readonly string[], promoted: PromotedKeys): Condition {
  const displayKey = promoted.get(key.toLowerCase());
  if (displayKey === undefined || values.length === 0)
    return sql<SqlBool>`${metadataValue(key, promoted)} = any(${values}::text[])`;
  // The index answers `@>` for a single value only.
  const conditions = values.map(
    (value) => sql<SqlBool>`indexed_metadata @> ${JSON.stringify({ [displayKey]: value })}::jsonb`,
  );
  return sql<SqlBool>`(${sql.join(conditions, sql` or `)})`;
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
    case 'nohas':
    case 'prefix':
    case 'contains':
      return columnCondition(found, 'text', op, values);
  }
}

/** The filter without a look-up in an index. */
export function exactCondition({ field, op, values }: LogFilter, promoted: PromotedKeys): Condition {
  if (field.type === 'metadata') return metadataCondition(field.key, op, values, promoted);
  if (field.type === 'any_model') return columnCondition(sql`coalesce(model, model_requested)`, 'text', op, values);
  if (field.kind === 'text_list') return flagsCondition(field.column, op, values);
  return columnCondition(sql.ref(field.column), field.kind, op, values);
}

/** What an index answers of the filter; null without one. */
export function indexedCondition({ field, op, values }: LogFilter, promoted: PromotedKeys): Condition | null {
  if (field.type === 'column') return columnTerms(field.column, op, values);
  if (field.type === 'any_model') return anyModelTerms(op, values);
  // The index of promoted keys holds whole values under their own spelling.
  const isPromoted = (op === 'eq' || op === 'in') && promoted.has(field.key.toLowerCase());
  return isPromoted ? null : metadataTerms(field.key, op, values);
}

export function isIndexed(filter: LogFilter, promoted: PromotedKeys): boolean {
  const isPromoted = filter.field.type === 'metadata' && promoted.has(filter.field.key.toLowerCase());
  return indexedCondition(filter, promoted) !== null || (isPromoted && (filter.op === 'eq' || filter.op === 'in'));
}

export function filterCondition(filter: LogFilter, promoted: PromotedKeys): Condition {
  const exact = exactCondition(filter, promoted);
  const indexed = indexedCondition(filter, promoted);
  // Both conditions are about the same calls. The planner would take them for two, expect next to none, and read all that
  // match where the first few in order are wanted; of what stands in a coalesce() it expects nothing.
  return indexed === null ? exact : sql<SqlBool>`(${indexed} and coalesce(${exact}, false))`;
}
