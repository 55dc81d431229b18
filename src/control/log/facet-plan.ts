/** Says whether sums over calls can be read from the roll-up by one dimension, and which of its rows they are. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import type { ColumnKind } from '../store/log-columns.ts';
import {
  ALL_CALLS,
  ALL_METADATA,
  ANY_MODEL,
  FACETED_COLUMNS,
  type FacetedColumn,
  METADATA_FACET,
  NO_MODEL,
  unsetFacet,
} from './call-facets.ts';
import { MAX_FACET_KEY_CHARACTERS } from './cost-hourly.ts';
import type { FilterField, LogFilter } from './log-filter.ts';
import { columnCondition } from './log-filter-sql.ts';
import { MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { allOf, type Condition } from './run-sql.ts';

/** Rows that are added up, or taken away. */
export interface FacetPart {
  readonly facet: string;
  readonly sign: 1 | -1;
  /** About `value`; null for all values. */
  readonly condition: Condition | null;
}

function isFaceted(column: string): column is FacetedColumn {
  return FACETED_COLUMNS.some((name) => name === column);
}

/** What calls without a value answer. */
function takesNull({ op }: LogFilter): boolean {
  return op === 'ne' || op === 'nin' || op === 'nohas';
}

/** A stored value may be cut, so a longer one cannot be compared, nor what it contains. */
export function isAnswerable({ op, values }: LogFilter): boolean {
  return op !== 'contains' && values.every((value) => [...value].length < MAX_VALUE_CHARACTERS);
}

/** The key as facets have it; names of headers have no other letters with case. */
export function metadataFacetOf(key: string): string {
  return METADATA_FACET + key.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

interface FilteredFacet {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Of the calls without a value; null where all have one. */
  readonly unset: string | null;
}

function facetOf(field: FilterField): FilteredFacet | null {
  if (field.type === 'any_model') return { name: ANY_MODEL, kind: 'text', unset: NO_MODEL };
  if (field.type === 'metadata' || !isFaceted(field.column)) return null;
  return { name: field.column, kind: field.kind, unset: unsetFacet(field.column) };
}

/** Null when the filters are about several columns or keys, or about one that has no facet. */
export function planFacet(filters: readonly LogFilter[]): readonly FacetPart[] | null {
  const [first] = filters;
  if (first === undefined) return [{ facet: ALL_CALLS, sign: 1, condition: null }];
  if (!filters.every(isAnswerable)) return null;
  if (first.field.type === 'metadata') return planKey(first.field.key, filters);
  const facet = facetOf(first.field);
  if (facet === null || !filters.every(({ field }) => facetOf(field)?.name === facet.name)) return null;
  const { name, kind, unset } = facet;
  // Without a value there is nothing to compare.
  const value = kind === 'integer' ? sql`value::int8` : sql`value`;
  const parts: FacetPart[] = [
    {
      facet: name,
      sign: 1,
      condition: allOf(filters.map(({ op, values }) => columnCondition(value, kind, op, values))),
    },
  ];
  if (unset !== null && filters.every(takesNull)) parts.push({ facet: unset, sign: 1, condition: null });
  return parts;
}

/** Calls without the key have no rows of it: what is asked of them is all calls less those that do not match. */
function planKey(key: string, filters: readonly LogFilter[]): readonly FacetPart[] | null {
  const [first] = filters;
  if (filters.length !== 1 || first === undefined || [...key].length > MAX_FACET_KEY_CHARACTERS) return null;
  const facet = metadataFacetOf(key);
  const all: FacetPart = { facet: ALL_CALLS, sign: 1, condition: null };
  const { op, values } = first;
  const isOneOf = sql<SqlBool>`value = any(${values}::text[])`;
  switch (op) {
    case 'eq':
    case 'in':
      return [{ facet, sign: 1, condition: isOneOf }];
    case 'ne':
    case 'nin':
      return [all, { facet, sign: -1, condition: isOneOf }];
    case 'has':
      return [{ facet, sign: 1, condition: null }];
    case 'nohas':
      return [all, { facet, sign: -1, condition: null }];
    case 'prefix':
      return [{ facet, sign: 1, condition: columnCondition(sql`value`, 'text', op, values) }];
    default:
      return null;
  }
}

/** Since when the facets are whole; null when one of them has too many values. */
export async function readFilledFrom(
  client: pg.ClientBase,
  accountId: number,
  facets: readonly string[],
): Promise<number | null> {
  const names = facets.some((facet) => facet.startsWith(METADATA_FACET)) ? [...facets, ALL_METADATA] : facets;
  const { rows } = await client.query<{ isWide: boolean; filledFrom: Date | number | null }>(
    `select exists (select from llm_wide_facets where account_id = $1 and facet = any($2)) as "isWide",
       (select filled_from from llm_facet_fill where account_id = $1) as "filledFrom"`,
    [accountId, names],
  );
  const [row] = rows;
  if (row === undefined || row.isWide) return null;
  if (row.filledFrom === null) return Number.NEGATIVE_INFINITY;
  // The driver reads `infinity` as a number.
  return typeof row.filledFrom === 'number' ? row.filledFrom : row.filledFrom.getTime();
}

export type RunMembership = 'any' | 'in_runs' | 'outside_runs';

export function facetConditions(
  accountId: number,
  { facet, condition }: FacetPart,
  hours: { readonly from: Date; readonly to: Date },
  calls: RunMembership,
): Condition {
  const conditions = [
    sql<SqlBool>`account_id = ${accountId} and facet = ${facet} and hour >= ${hours.from} and hour < ${hours.to}`,
  ];
  if (condition !== null) conditions.push(condition);
  if (calls !== 'any') conditions.push(calls === 'in_runs' ? sql<SqlBool>`in_run` : sql<SqlBool>`not in_run`);
  return allOf(conditions);
}
