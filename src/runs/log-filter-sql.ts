/** A filter of the log as an SQL condition with bound values. Column names come from the closed list, never from text. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ColumnKind, LogColumn } from './log-columns.ts';
import type { FilterOp, LogFilter } from './log-filter.ts';

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
function compareMetadata(operator: RawBuilder<unknown>, value: string): Condition {
  if (!NUMBER.test(value)) return sql<SqlBool>`m.value ${operator} ${value}`;
  return sql<SqlBool>`case when m.value ~ ${NUMBER_SQL} then m.value::numeric ${operator} ${value}::numeric else false end`;
}

/** Header names have no case, so neither have metadata keys. */
function metadataCondition(key: string, op: FilterOp, values: readonly string[]): Condition {
  const value = values[0] ?? '';
  const some = (condition: Condition): Condition =>
    sql<SqlBool>`exists (select 1 from jsonb_each_text(raw_metadata) m where lower(m.key) = lower(${key}) and ${condition})`;
  switch (op) {
    case 'eq':
    case 'in':
      return some(sql<SqlBool>`m.value = any(${values}::text[])`);
    case 'ne':
    case 'nin':
      return sql<SqlBool>`not ${some(sql<SqlBool>`m.value = any(${values}::text[])`)}`;
    case 'gt':
      return some(compareMetadata(sql`>`, value));
    case 'gte':
      return some(compareMetadata(sql`>=`, value));
    case 'lt':
      return some(compareMetadata(sql`<`, value));
    case 'lte':
      return some(compareMetadata(sql`<=`, value));
    case 'has':
      return some(sql<SqlBool>`true`);
    case 'nohas':
      return sql<SqlBool>`not ${some(sql<SqlBool>`true`)}`;
    case 'prefix':
      return some(sql<SqlBool>`starts_with(m.value, ${value})`);
    case 'contains':
      return some(sql<SqlBool>`strpos(m.value, ${value}) > 0`);
  }
}

export function filterCondition({ field, op, values }: LogFilter): Condition {
  if (field.type === 'metadata') return metadataCondition(field.key, op, values);
  if (field.kind === 'text_list') return flagsCondition(field.column, op, values);
  return columnCondition(sql.ref(field.column), field.kind, op, values);
}
