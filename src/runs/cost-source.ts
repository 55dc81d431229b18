/**
 * Where the sums of a question about costs come from: from the roll-up by hour, as far as that knows what is asked, or
 * from the records. This decides, and writes the SQL of both; it asks nothing.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { ALL_CALLS_FACET, COST_SUMS, MAX_FACET_KEY_CHARACTERS, metadataFacet } from './cost-hourly.ts';
import type { CostGroup, CostGroupColumn, CostInterval, CostQuery } from './cost-query.ts';
import type { LogFilter } from './log-filter.ts';
import { filterCondition, metadataValue } from './log-filter-sql.ts';
import { NO_PROMOTED_KEYS, type PromotedKeys } from './promoted-keys.ts';
import { AGGREGATED_COLUMNS, MAX_VALUE_CHARACTERS, SUMMED_COLUMNS } from './run-aggregate.ts';

/** Instants from `from` to before `to`. */
export interface TimeRange {
  readonly from: Date;
  readonly to: Date;
}

/** Which rows of the roll-up have the answer. */
export interface HourlyPlan {
  /** Null: the question is about no metadata. */
  readonly facet: string | null;
  /** The calls without the key are asked for, too: they are the difference of all calls and those with it. */
  readonly withUnset: boolean;
  readonly columnFilters: readonly LogFilter[];
  /** One of these values; null for any. */
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

/** Null when only the records know: other columns, keys that are not promoted, two keys at once, other operators. */
export function planHourly(query: CostQuery, promoted: PromotedKeys): HourlyPlan | null {
  const keys = listMetadataKeys(query);
  if (keys.length > 1) return null;
  const [key] = keys;
  const display = key === undefined ? null : promoted.get(key);
  if (display === undefined || (display !== null && [...display].length > MAX_FACET_KEY_CHARACTERS)) return null;
  if (query.groups.some((group) => group.type === 'column' && HOURLY_COLUMNS[group.column] === undefined)) return null;
  const columnFilters = query.filters.filter(({ field }) => field.type === 'column');
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

/**
 * Not `model`: a filter means the one that served the call, and the roll-up has the one asked for where that is null.
 */
function isOfRollup({ field }: LogFilter): boolean {
  return field.type === 'column' && (field.column === 'provider' || field.column === 'key_id');
}

/** A value as long as those that are cut may be a cut one. */
function isWholeValue({ op, values }: LogFilter): boolean {
  return (
    op === 'has' || ((op === 'eq' || op === 'in') && values.every((value) => [...value].length < MAX_VALUE_CHARACTERS))
  );
}

export interface Buckets {
  readonly interval: CostInterval;
  readonly timeZone: string;
}

function bucketOf({ interval, timeZone }: Buckets, time: RawBuilder<unknown>): RawBuilder<unknown> {
  return interval === 'none' ? sql`null::timestamptz` : sql`date_trunc(${interval}::text, ${time}, ${timeZone}::text)`;
}

/** Two expressions, whatever the question has; and the bucket. */
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

/** Whole hours. `splitHours` are left out: they are read from the records. */
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
      ...plan.columnFilters.map((filter) => filterCondition(filter, NO_PROMOTED_KEYS)),
    ];
    if (splitHours.length > 0) conditions.push(sql<SqlBool>`hour <> all(${splitHours}::timestamptz[])`);
    if (plan.values !== null) conditions.push(sql<SqlBool>`value = any(${plan.values}::text[])`);
    const expressionOf = (group: CostGroup) =>
      group.type === 'metadata' ? value : (HOURLY_COLUMNS[group.column] ?? sql`null::text`);
    return sql`select ${groupColumns(query.groups, expressionOf, bucketOf(buckets, sql`hour`))},
      ${signedSums(sign)}
      from llm_cost_hourly where ${sql.join(conditions, sql` and `)} group by 1, 2, 3`;
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

/** Calls of any ranges of time; these must not overlap. */
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
  return sql`select ${groups}, ${sql.raw(COST_SUMS)} from (${callsOf(query, promoted, ranges)}) calls group by 1, 2, 3`;
}

function callsOf(query: CostQuery, promoted: PromotedKeys, ranges: readonly TimeRange[]): RawBuilder<unknown> {
  const within = (from: RawBuilder<unknown>, to: RawBuilder<unknown>) =>
    sql`select 1 as sign, ${CALL_COLUMNS} from llm_requests where ${sql.join(
      [
        sql`account_id = ${query.accountId} and requested_at >= ${from} and requested_at < ${to}`,
        ...query.filters.map((filter) => filterCondition(filter, promoted)),
      ],
      sql` and `,
    )}`;
  const [only] = ranges;
  if (ranges.length === 1 && only !== undefined)
    return within(sql`${only.from}::timestamptz`, sql`${only.to}::timestamptz`);
  // The `offset 0` keeps the look-up by time, so that the days between are not read at all.
  return sql`select calls.* from unnest(
      ${ranges.map(({ from }) => from)}::timestamptz[], ${ranges.map(({ to }) => to)}::timestamptz[]
    ) as part (part_from, part_to) cross join lateral (${within(sql`part_from`, sql`part_to`)} offset 0) calls`;
}
