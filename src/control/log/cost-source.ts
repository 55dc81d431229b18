/** Chooses where the sums of a cost question come from, hourly roll-up or records, and writes the SQL of both. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ALL_CALLS, ANY_MODEL, NO_MODEL, unsetFacet } from './call-facets.ts';
import { SIGNED_SUMS, SUMMED_COLUMNS } from './call-sums.ts';
import { ALL_CALLS_FACET, MAX_FACET_KEY_CHARACTERS, metadataFacet } from './cost-hourly.ts';
import type { CostGroup, CostGroupColumn, CostInterval, CostQuery } from './cost-query.ts';
import { type FacetPart, facetConditions, isAnswerable, metadataFacetOf, planFacet } from './facet-plan.ts';
import type { LogFilter } from './log-filter.ts';
import { columnCondition, filterCondition, metadataValue } from './log-filter-sql.ts';
import type { PromotedKeys } from './promoted-keys.ts';
import { AGGREGATED_COLUMNS, MAX_VALUE_CHARACTERS } from './run-aggregate.ts';
import { allOf, type Condition } from './run-sql.ts';

/** Instants in [`from`, `to`). */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

export interface HourlyPlan {
  readonly facet: string | null;
  /** Calls without the key are wanted too: the difference between all calls and those with it. */
  readonly withUnset: boolean;
  readonly columnFilters: readonly LogFilter[];
  /** Null matches any value. */
  readonly values: readonly string[] | null;
}

const HOURLY_COLUMNS: Readonly<Partial<Record<CostGroupColumn, RawBuilder<unknown>>>> = {
  model: sql`model`,
  provider: sql`provider`,
  key: sql`key_id::text`,
};

export function listMetadataKeys(query: CostQuery): readonly string[] {
  const grouped = query.groups.flatMap((group) => (group.type === 'metadata' ? [group.key] : []));
  const filtered = query.filters.flatMap(({ field }) => (field.type === 'metadata' ? [field.key] : []));
  return [...new Set([...grouped, ...filtered].map((key) => key.toLowerCase()))];
}

/** Null when only the records can answer: runs, other columns, keys that are not promoted, two keys, other operators. */
export function planHourly(query: CostQuery, promoted: PromotedKeys): HourlyPlan | null {
  if (query.onlyRuns === true) return null;
  const keys = listMetadataKeys(query);
  if (keys.length > 1) return null;
  const [key] = keys;
  const display = key === undefined ? null : promoted.get(key);
  if (display === undefined || (display !== null && [...display].length > MAX_FACET_KEY_CHARACTERS)) return null;
  if (query.groups.some((group) => group.type === 'column' && HOURLY_COLUMNS[group.column] === undefined)) return null;
  const columnFilters = query.filters.filter(({ field }) => field.type !== 'metadata');
  if (!columnFilters.every(isOfRollup)) return null;
  const metadataFilters = query.filters.filter(({ field }) => field.type === 'metadata');
  if (metadataFilters.length > 1 || !metadataFilters.every(isWholeValue)) return null;
  const [metadataFilter] = metadataFilters;
  return {
    facet: display === null ? null : metadataFacet(display),
    withUnset: display !== null && metadataFilter === undefined,
    columnFilters,
    values: metadataFilter === undefined || metadataFilter.op === 'has' ? null : metadataFilter.values,
  };
}

/** A filter of `model` means the model that served; the roll-up has the requested one where that is null, and names cut. */
function isOfRollup(filter: LogFilter): boolean {
  const { field } = filter;
  if (field.type === 'any_model') return isAnswerable(filter);
  return field.type === 'column' && (field.column === 'provider' || field.column === 'key_id');
}

/** The index over the terms of a call is no part of it. */
function onRollup({ field, op, values }: LogFilter): Condition {
  if (field.type === 'any_model') return columnCondition(sql`model`, 'text', op, values);
  if (field.type !== 'column') throw new Error('a filter on metadata chooses the facet');
  return columnCondition(sql.ref(field.column), field.kind, op, values);
}

/** A value of the maximal length may have been cut. */
function isWholeValue({ op, values }: LogFilter): boolean {
  return (
    op === 'has' || ((op === 'eq' || op === 'in') && values.every((value) => [...value].length < MAX_VALUE_CHARACTERS))
  );
}

/** Rows of the roll-up by one dimension, and whether their value is the group or the calls have none. */
interface CostFacet extends FacetPart {
  readonly isUnset: boolean;
}

export interface FacetCostPlan {
  readonly parts: readonly CostFacet[];
}

const FACETS_OF_GROUPS: Readonly<
  Partial<Record<CostGroupColumn, { readonly facet: string; readonly unset: string | null }>>
> = {
  model: { facet: ANY_MODEL, unset: NO_MODEL },
  provider: { facet: 'provider', unset: null },
  key: { facet: 'key_id', unset: null },
  endpoint: { facet: 'endpoint', unset: null },
  outcome: { facet: 'outcome', unset: null },
  client: { facet: 'client', unset: unsetFacet('client') },
};

/** Null when the question is about several dimensions, or one that has no facet. */
export function planFacetCosts({ groups: [group, second], filters }: CostQuery): FacetCostPlan | null {
  if (group === undefined || second !== undefined) return null;
  const facet = group.type === 'metadata' ? metadataFacetOf(group.key) : FACETS_OF_GROUPS[group.column]?.facet;
  if (facet === undefined || (group.type === 'metadata' && [...group.key].length > MAX_FACET_KEY_CHARACTERS))
    return null;
  const grouped: CostFacet = { facet, sign: 1, condition: null, isUnset: false };
  if (filters.length === 0) {
    const unset = group.type === 'metadata' ? null : (FACETS_OF_GROUPS[group.column]?.unset ?? null);
    if (group.type === 'metadata')
      return {
        parts: [grouped, { ...grouped, facet: ALL_CALLS, isUnset: true }, { ...grouped, sign: -1, isUnset: true }],
      };
    return { parts: unset === null ? [grouped] : [grouped, { ...grouped, facet: unset, isUnset: true }] };
  }
  const parts = planFacet(filters);
  const [part, more] = parts ?? [];
  return part === undefined || more !== undefined || part.facet !== facet
    ? null
    : { parts: [{ ...part, isUnset: false }] };
}

export function facetParts(
  query: CostQuery,
  { parts }: FacetCostPlan,
  buckets: Buckets,
  range: TimeRange,
  splitHours: readonly Date[],
): RawBuilder<unknown> {
  const sums = parts.map((part) => {
    const conditions = [facetConditions(query.accountId, part, range, query.onlyRuns === true ? 'in_runs' : 'any')];
    if (splitHours.length > 0) conditions.push(sql<SqlBool>`hour <> all(${splitHours}::timestamptz[])`);
    const value = part.isUnset ? sql`null::text` : sql`value`;
    return sql`select ${groupColumns(query.groups, () => value, bucketOf(buckets, sql`hour`))}, ${signedSums(part.sign)}
      from llm_facet_hours where ${allOf(conditions)} group by 1, 2, 3`;
  });
  return sql.join(sums, sql` union all `);
}

export interface Buckets {
  readonly interval: CostInterval;
  readonly timeZone: string;
}

function bucketOf({ interval, timeZone }: Buckets, time: RawBuilder<unknown>): RawBuilder<unknown> {
  return interval === 'none' ? sql`null::timestamptz` : sql`date_trunc(${interval}::text, ${time}, ${timeZone}::text)`;
}

function groupColumns(
  groups: readonly CostGroup[],
  expressionOf: (group: CostGroup) => RawBuilder<unknown>,
  bucket: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [first, second] = groups.map(expressionOf);
  return sql`${first ?? sql`null::text`}, ${second ?? sql`null::text`}, ${bucket}`;
}

function signedSums(sign: 1 | -1): RawBuilder<unknown> {
  return sql.join(SUMMED_COLUMNS.map((column) => sql`sum(${sql.raw(String(sign))} * ${sql.ref(column)})`));
}

/** Leaves out `splitHours`, which are read from the records. */
export function hourlyParts(
  query: CostQuery,
  plan: HourlyPlan,
  buckets: Buckets,
  range: TimeRange,
  splitHours: readonly Date[],
): RawBuilder<unknown> {
  const part = (facet: string, sign: 1 | -1, value: RawBuilder<unknown>): RawBuilder<unknown> => {
    const conditions = [
      sql<SqlBool>`account_id = ${query.accountId} and facet = ${facet}`,
      sql<SqlBool>`hour >= ${range.from} and hour < ${range.to}`,
      ...plan.columnFilters.map(onRollup),
    ];
    if (splitHours.length > 0) conditions.push(sql<SqlBool>`hour <> all(${splitHours}::timestamptz[])`);
    if (plan.values !== null) conditions.push(sql<SqlBool>`value = any(${plan.values}::text[])`);
    const expressionOf = (group: CostGroup) =>
      group.type === 'metadata' ? value : (HOURLY_COLUMNS[group.column] ?? sql`null::text`);
    return sql`select ${groupColumns(query.groups, expressionOf, bucketOf(buckets, sql`hour`))},
      ${signedSums(sign)}
      from llm_cost_hours where ${sql.join(conditions, sql` and `)} group by 1, 2, 3`;
  };
  if (plan.facet === null) return part(ALL_CALLS_FACET, 1, sql`null::text`);
  const withKey = part(plan.facet, 1, sql`value`);
  if (!plan.withUnset) return withKey;
  const unset = sql`null::text`;
  return sql.join([withKey, part(ALL_CALLS_FACET, 1, unset), part(plan.facet, -1, unset)], sql` union all `);
}

const CALL_COLUMNS = sql.raw(
  [...AGGREGATED_COLUMNS, 'endpoint', 'span_key', 'span_name', 'client', 'raw_metadata'].join(', '),
);

function cut(text: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`left(${text}, ${sql.raw(String(MAX_VALUE_CHARACTERS))})`;
}

const RECORD_COLUMNS: Readonly<Record<CostGroupColumn, RawBuilder<unknown>>> = {
  model: cut(sql`coalesce(model, model_requested)`),
  provider: sql`provider`,
  key: sql`key_id::text`,
  endpoint: sql`endpoint`,
  outcome: sql`outcome`,
  // Two spellings of a path are one step.
  span_path: cut(sql`span_key`),
  span_name: cut(sql`span_name`),
  trace_id: cut(sql`trace_id`),
  client: cut(sql`client`),
};

function recordExpression(group: CostGroup, promoted: PromotedKeys): RawBuilder<unknown> {
  if (group.type === 'column') return RECORD_COLUMNS[group.column];
  return cut(metadataValue(group.key, promoted));
}

/** The ranges must not overlap. */
export function recordParts(
  query: CostQuery,
  promoted: PromotedKeys,
  buckets: Buckets,
  ranges: readonly TimeRange[],
): RawBuilder<unknown> {
  const groups = groupColumns(
    query.groups,
    (group) => recordExpression(group, promoted),
    bucketOf(buckets, sql`requested_at`),
  );
  return sql`select ${groups}, ${sql.raw(SIGNED_SUMS)} from (${callsOf(query, promoted, ranges)}) calls group by 1, 2, 3`;
}

function callsOf(query: CostQuery, promoted: PromotedKeys, ranges: readonly TimeRange[]): RawBuilder<unknown> {
  const within = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
    sql`select 1 as sign, ${CALL_COLUMNS} from llm_requests where ${sql.join(
      [
        sql`account_id = ${query.accountId} and requested_at >= ${from} and requested_at < ${to}`,
        ...query.filters.map((filter) => filterCondition(filter, promoted)),
        ...(query.onlyRuns === true ? [sql`trace_id is not null`] : []),
      ],
      sql` and `,
    )}`;
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined)
    return within(sql`${only.from}::timestamptz`, sql`${only.to}::timestamptz`);
  // The `offset 0` keeps the look-up by time, so that the days between are not read.
  return sql`select calls.* from unnest(
      ${ranges.map(({ from }) => from)}::timestamptz[], ${ranges.map(({ to }) => to)}::timestamptz[]
    ) as part (part_from, part_to) cross join lateral (${within(sql`part_from`, sql`part_to`)} offset 0) calls`;
}
