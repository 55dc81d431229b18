/**
 * What calls cost by group and by time: the most expensive groups, the rest, the total. One snapshot answers, and the
 * sums are exactly those over the records, wherever they are read from.
 */
import { type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { SUMMED_COLUMNS } from './call-sums.ts';
import { chooseInterval, HOUR_MS, listBucketStarts, listSplitHours } from './cost-buckets.ts';
import { ALL_CALLS_FACET } from './cost-hourly.ts';
import type { CostInterval, CostQuery } from './cost-query.ts';
import {
  type Buckets,
  type FacetCostPlan,
  facetParts,
  type HourlyPlan,
  hourlyParts,
  planFacetCosts,
  planHourly,
  recordParts,
  type TimeRange,
} from './cost-source.ts';
import { type CostCell, type CostTable, tabulateCosts } from './cost-table.ts';
import { readFilledFrom } from './facet-plan.ts';
import { type PromotedKeys, readPromotedKeys } from './promoted-keys.ts';
import { compileSql, runSql, type SqlRow } from './run-sql.ts';
import { walkHours } from './walk-hours.ts';
import { WALK_LIMITS, type WalkLimits, walkWindow } from './walk-window.ts';

export interface Costs extends CostTable {
  readonly from: Date;
  readonly to: Date;
  readonly interval: CostInterval;
  readonly bucketStarts: readonly Date[];
  readonly source: 'hourly' | 'records';
  /** Calls before it were not read, since the time was spent; null when all were. */
  readonly searchedTo: Date | null;
}

/** Throws a CostQueryError when there would be too many buckets. */
export function listCosts(
  pool: pg.Pool,
  query: CostQuery,
  nowMs: number,
  limits: WalkLimits = WALK_LIMITS,
): Promise<Costs> {
  return inSnapshot(pool, async (client) => {
    const { window, buckets, promoted, hourly } = await prepare(client, query, nowMs);
    const { parts, searchedTo } =
      hourly === null
        ? await walkRecords(client, query, promoted, buckets, window, limits)
        : await walkPlanned(client, hourly, limits);
    return {
      ...window,
      interval: buckets.interval,
      bucketStarts: await listBucketStarts(client, buckets.interval, query.timeZone, window.from, window.to),
      source: hourly === null ? 'records' : 'hourly',
      searchedTo,
      ...tabulateCosts(await readCells(client, parts, query.limit), query.groups.length, query.limit),
    };
  });
}

/** The same from roll-ups alone; null where they do not answer. The client is in a transaction of one snapshot. */
export async function readHourlyCosts(
  client: pg.ClientBase,
  query: CostQuery,
  nowMs: number,
  limits: WalkLimits,
): Promise<(CostTable & { readonly searchedTo: Date | null }) | null> {
  const { hourly } = await prepare(client, query, nowMs);
  if (hourly === null) return null;
  const { parts, searchedTo } = await walkPlanned(client, hourly, limits);
  return {
    searchedTo,
    ...tabulateCosts(await readCells(client, parts, query.limit), query.groups.length, query.limit),
  };
}

/** Hours that are read together at first: those by one dimension have far fewer rows. */
const FIRST_HOURS = { facet: 31 * 24, cube: 24 } as const;

interface Planned {
  readonly by: SourcePlan['by'];
  readonly window: TimeRange;
  readonly split: SplitWindow;
  /** SQL of the sums by group and bucket. */
  readonly partsOf: (split: SplitWindow) => RawBuilder<unknown>;
}

interface Prepared {
  readonly window: TimeRange;
  readonly buckets: Buckets;
  readonly promoted: PromotedKeys;
  /** Null where only the records answer. */
  readonly hourly: Planned | null;
}

async function prepare(client: pg.ClientBase, query: CostQuery, nowMs: number): Promise<Prepared> {
  const { hours, window } = await readWindow(client, query, nowMs);
  const buckets: Buckets = {
    interval: chooseInterval(query.interval, window.from, window.to),
    timeZone: query.timeZone,
  };
  const promoted = await readPromotedKeys(client, query.accountId);
  const plan = await choosePlan(client, query, promoted, window);
  const split = plan === null ? null : await splitWindow(client, buckets, window, hours);
  const hourly: Planned | null =
    plan === null || split === null
      ? null
      : { by: plan.by, window, split, partsOf: (part) => joinParts(query, promoted, plan, buckets, part) };
  return { window, buckets, promoted, hourly };
}

/** What the records answer of a stretch of hours is read with it; the ends of the window with the first and the last. */
async function walkPlanned(
  client: pg.ClientBase,
  { by, window, split, partsOf: partsOfSplit }: Planned,
  limits: WalkLimits,
): Promise<Walked> {
  const { wholeHours, splitHours, edges } = split;
  const rows: SqlRow[] = [];
  const searchedTo = await walkHours(client, wholeHours, FIRST_HOURS[by], limits, async (stretch) => {
    const from = stretch.from <= wholeHours.from ? window.from : stretch.from;
    const to = stretch.to >= wholeHours.to ? window.to : stretch.to;
    const own = edges.filter((edge) => edge.from >= from && edge.to <= to);
    const parts = partsOfSplit({ wholeHours: stretch, splitHours, edges: own });
    rows.push(...(await runSql(client, sql`select * from (${parts}) parts (${sql.raw(PART_COLUMNS.join(', '))})`)));
  });
  return { parts: partsOf(rows), searchedTo };
}

type SourcePlan =
  | { readonly by: 'facet'; readonly plan: FacetCostPlan }
  | { readonly by: 'cube'; readonly plan: HourlyPlan };

/** One dimension has the fewest rows. */
async function choosePlan(
  client: pg.ClientBase,
  query: CostQuery,
  promoted: PromotedKeys,
  { from }: TimeRange,
): Promise<SourcePlan | null> {
  const facets = planFacetCosts(query);
  if (facets !== null) {
    const names = facets.parts.map(({ facet }) => facet);
    const filledFromMs = await readFilledFrom(client, query.accountId, names);
    if (filledFromMs !== null && filledFromMs <= from.getTime()) return { by: 'facet', plan: facets };
  }
  const plan = planHourly(query, promoted);
  return plan === null ? null : { by: 'cube', plan };
}

interface Walked {
  readonly parts: RawBuilder<unknown>;
  readonly searchedTo: Date | null;
}

const PART_COLUMNS = ['group_1', 'group_2', 'bucket', ...SUMMED_COLUMNS];
const PART_TYPES = [
  'text[]',
  'text[]',
  'timestamptz[]',
  ...SUMMED_COLUMNS.map((column) => (column === 'total_cost' ? 'numeric[]' : 'int8[]')),
];

/** Sums the calls, the newest first, as long as there is time. */
async function walkRecords(
  client: pg.ClientBase,
  query: CostQuery,
  promoted: PromotedKeys,
  buckets: Buckets,
  window: TimeRange,
  limits: WalkLimits,
): Promise<Walked> {
  const rows: SqlRow[] = [];
  if (window.from < window.to) {
    const end = await walkWindow(
      client,
      { over: 'calls', accountId: query.accountId, direction: 'newest_first', ...window },
      limits,
      async (slice) => {
        const range = { from: slice.from ?? window.from, to: slice.to ?? window.to };
        const parts = recordParts(query, promoted, buckets, [range]);
        rows.push(...(await runSql(client, sql`select * from (${parts}) parts (${sql.raw(PART_COLUMNS.join(', '))})`)));
        return false;
      },
    );
    const searchedTo = end.type === 'time_spent' ? end.searchedTo : null;
    return { parts: partsOf(rows), searchedTo };
  }
  return { parts: partsOf(rows), searchedTo: null };
}

function partsOf(rows: readonly SqlRow[]): RawBuilder<unknown> {
  const columns = PART_COLUMNS.map(
    (column, index) => sql`${rows.map((row) => row[column])}::${sql.raw(PART_TYPES[index] ?? '')}`,
  );
  return sql`select * from unnest(${sql.join(columns)})`;
}

interface Window {
  readonly hours: TimeRange | null;
  readonly window: TimeRange;
}

async function readWindow(client: pg.ClientBase, query: CostQuery, nowMs: number): Promise<Window> {
  const { rows } = await client.query<{ first: Date | null; last: Date | null }>(
    'select min(hour) as first, max(hour) as last from llm_cost_hours where account_id = $1 and facet = $2',
    [query.accountId, ALL_CALLS_FACET],
  );
  const [{ first, last } = { first: null, last: null }] = rows;
  const hours = first === null || last === null ? null : { from: first, to: new Date(last.getTime() + HOUR_MS) };
  const to = query.to ?? new Date(Math.max(nowMs, hours?.to.getTime() ?? 0, query.from?.getTime() ?? 0));
  const from = query.from ?? new Date(Math.min(hours?.from.getTime() ?? to.getTime(), to.getTime()));
  return { hours, window: { from, to } };
}

/** A window as whole hours, and what the records answer: its ends, and hours that two buckets share. */
interface SplitWindow {
  readonly wholeHours: TimeRange;
  readonly splitHours: readonly Date[];
  readonly edges: readonly TimeRange[];
}

/** Returns null when reading the records alone is cheaper. */
async function splitWindow(
  client: pg.ClientBase,
  { interval, timeZone }: Buckets,
  window: TimeRange,
  hours: TimeRange | null,
): Promise<SplitWindow | null> {
  const firstHourMs = Math.ceil(window.from.getTime() / HOUR_MS) * HOUR_MS;
  const endMs = Math.floor(window.to.getTime() / HOUR_MS) * HOUR_MS;
  if (firstHourMs >= endMs || hours === null) return null;
  // Hours before the first call and after the last have no rows.
  const wholeHours = {
    from: new Date(Math.max(firstHourMs, hours.from.getTime())),
    to: new Date(Math.min(endMs, hours.to.getTime())),
  };
  const splitHours = await listSplitHours(client, interval, timeZone, wholeHours.from, wholeHours.to);
  if (splitHours.length * HOUR_MS * 2 > wholeHours.to.getTime() - wholeHours.from.getTime() && splitHours.length > 0)
    return null;
  const edges = [
    { from: window.from, to: new Date(firstHourMs) },
    ...splitHours.map((hour) => ({ from: hour, to: new Date(hour.getTime() + HOUR_MS) })),
    { from: new Date(endMs), to: window.to },
  ].filter(({ from, to }) => from < to);
  return { wholeHours, splitHours, edges };
}

function joinParts(
  query: CostQuery,
  promoted: PromotedKeys,
  { by, plan }: SourcePlan,
  buckets: Buckets,
  { wholeHours, splitHours, edges }: SplitWindow,
): RawBuilder<unknown> {
  const whole =
    by === 'cube'
      ? hourlyParts(query, plan, buckets, wholeHours, splitHours)
      : facetParts(query, plan, buckets, wholeHours, splitHours);
  return edges.length === 0 ? whole : sql`${whole} union all ${recordParts(query, promoted, buckets, edges)}`;
}

const SUMS = sql.join(SUMMED_COLUMNS.map((column) => sql.ref(column)));
const SUM_OF_EACH = sql.join(
  SUMMED_COLUMNS.map((column) =>
    column === 'total_cost'
      ? sql`sum(${sql.ref(column)}) as total_cost`
      : sql`sum(${sql.ref(column)})::int8 as ${sql.ref(column)}`,
  ),
);

/**
 * One row for each group and bucket, ranked by cost, calls and name; places beyond `limit` are one group. Calls with
 * nothing set have place 0 and are never in the rest.
 */
async function readCells(
  client: pg.ClientBase,
  parts: RawBuilder<unknown>,
  limit: number,
): Promise<readonly CostCell[]> {
  const statement = sql<CostCell>`
    with parts (group_1, group_2, bucket, ${SUMS}) as (${parts}),
    cells as (select group_1, group_2, bucket, ${SUM_OF_EACH} from parts group by 1, 2, 3 having sum(calls) > 0),
    weighed as (
      select cells.*, sum(total_cost) over by_group as group_cost, sum(calls) over by_group as group_calls
      from cells window by_group as (partition by group_1, group_2)
    ),
    ranked as (
      select weighed.*, case when group_1 is null and group_2 is null then 0 else dense_rank() over (
        partition by group_1 is null and group_2 is null
        order by group_cost desc, group_calls desc, group_1 nulls last, group_2 nulls last) end as place
      from weighed
    )
    select least(place, ${limit + 1})::int4 as place, min(group_1) as group_1, min(group_2) as group_2, bucket,
      ${SUM_OF_EACH}, (select max(place)::int4 from ranked) as all_groups
    from ranked group by 1, bucket order by 1, bucket`;
  const { text, values } = compileSql(statement);
  const { rows } = await client.query<CostCell>(text, values);
  return rows;
}
