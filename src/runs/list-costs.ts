/**
 * What calls cost, by group and by bucket of time: the most expensive groups, the rest, the total. Everything is of one
 * snapshot, and equal to the sums over the records to the last digit, wherever it is read from.
 */
import { Kysely, PostgresDialect, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';
import { chooseInterval, HOUR_MS, listBucketStarts, listSplitHours } from './cost-buckets.ts';
import { ALL_CALLS_FACET } from './cost-hourly.ts';
import type { CostInterval, CostQuery } from './cost-query.ts';
import { type Buckets, type HourlyPlan, hourlyParts, planHourly, recordParts, type TimeRange } from './cost-source.ts';
import { type CostCell, type CostTable, tabulateCosts } from './cost-table.ts';
import { type PromotedKeys, readPromotedKeys } from './promoted-keys.ts';
import { SUMMED_COLUMNS } from './run-aggregate.ts';

export interface Costs extends CostTable {
  readonly from: Date;
  readonly to: Date;
  readonly interval: CostInterval;
  readonly bucketStarts: readonly Date[];
  readonly source: 'hourly' | 'records';
}

/** Throws a CostQueryError when there would be too many buckets. `pool` compiles; `nowMs` is the clock. */
export function listCosts(pool: pg.Pool, query: CostQuery, nowMs: number): Promise<Costs> {
  return inTransaction(pool, async (client) => {
    await client.query('set transaction isolation level repeatable read, read only');
    const { hours, window } = await readWindow(client, query, nowMs);
    const interval = chooseInterval(query.interval, window.from, window.to);
    const buckets: Buckets = { interval, timeZone: query.timeZone };
    const promoted = await readPromotedKeys(client, query.accountId);
    const plan = planHourly(query, promoted);
    const split = plan === null ? null : await splitWindow(client, buckets, window, hours);
    const parts =
      plan === null || split === null
        ? recordParts(query, promoted, buckets, [window])
        : joinParts(query, promoted, plan, buckets, split);
    return {
      ...window,
      interval,
      bucketStarts: await listBucketStarts(client, interval, query.timeZone, window.from, window.to),
      source: split === null ? 'records' : 'hourly',
      ...tabulateCosts(await readCells(pool, client, parts, query.limit), query.groups.length, query.limit),
    };
  });
}

interface Window {
  /** From the first hour with calls to the end of the last; null without calls. */
  readonly hours: TimeRange | null;
  readonly window: TimeRange;
}

async function readWindow(client: pg.ClientBase, query: CostQuery, nowMs: number): Promise<Window> {
  const { rows } = await client.query<{ first: Date | null; last: Date | null }>(
    'select min(hour) as first, max(hour) as last from llm_cost_hourly where account_id = $1 and facet = $2',
    [query.accountId, ALL_CALLS_FACET],
  );
  const [{ first, last } = { first: null, last: null }] = rows;
  const hours = first === null || last === null ? null : { from: first, to: new Date(last.getTime() + HOUR_MS) };
  const to = query.to ?? new Date(Math.max(nowMs, hours?.to.getTime() ?? 0, query.from?.getTime() ?? 0));
  const from = query.from ?? new Date(Math.min(hours?.from.getTime() ?? to.getTime(), to.getTime()));
  return { hours, window: { from, to } };
}

/** A window as whole hours, and what is read from the records: its ends, and hours that two buckets share. */
interface SplitWindow {
  readonly wholeHours: TimeRange;
  readonly splitHours: readonly Date[];
  readonly edges: readonly TimeRange[];
}

/** Null when the records alone are the shorter way. */
async function splitWindow(
  client: pg.ClientBase,
  { interval, timeZone }: Buckets,
  window: TimeRange,
  hours: TimeRange | null,
): Promise<SplitWindow | null> {
  const firstHourMs = Math.ceil(window.from.getTime() / HOUR_MS) * HOUR_MS;
  const endMs = Math.floor(window.to.getTime() / HOUR_MS) * HOUR_MS;
  if (firstHourMs >= endMs || hours === null) return null;
  // Hours before the first call and after the last have no rows anywhere.
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
  plan: HourlyPlan,
  buckets: Buckets,
  { wholeHours, splitHours, edges }: SplitWindow,
): RawBuilder<unknown> {
  const whole = hourlyParts(query, plan, buckets, wholeHours, splitHours);
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
 * One row for each group and bucket, the places from `limit + 1` on as one group. Ranked by cost, then calls, then name;
 * the calls that have nothing set are never in the rest: their place is 0.
 */
async function readCells(
  pool: pg.Pool,
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
  // Only a compiler around the pool: nothing to close.
  const compiled = statement.compile(new Kysely<Record<string, never>>({ dialect: new PostgresDialect({ pool }) }));
  const { rows } = await client.query<CostCell>(compiled.sql, [...compiled.parameters]);
  return rows;
}
