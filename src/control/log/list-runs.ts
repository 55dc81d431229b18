/**
 * A page of the runs. The default order, by latest activity, keeps the database snapshot of its first page: a run that
 * moved since is placed where it stood then, so each run comes exactly once, with its present values. In the other
 * orders a run that changes while it is paged may come twice or not at all. The work for a page is bounded: it may end
 * early, and says how far the runs were searched.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { inSnapshot } from '../store/pool.ts';
import { findRuns } from './find-runs.ts';
import { findLargeRuns, findTraces } from './find-traces.ts';
import { listBegunRuns } from './list-begun-runs.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';
import { RUN_DURATION_MS, type RunScope, runConditions } from './run-conditions.ts';
import { RUN_COLUMNS, type RunRow, readRunRow } from './run-row.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';
import {
  limitsLeft,
  type Slice,
  WALK_LIMITS,
  type WalkedWindow,
  type WalkLimits,
  walkRows,
  walkWindow,
} from './walk-window.ts';

export const RUN_SORTS = [
  '-ended_at',
  'ended_at',
  '-started_at',
  'started_at',
  '-total_cost',
  'total_cost',
  '-duration_ms',
  'duration_ms',
  '-calls',
  'calls',
  '-errors',
  'errors',
  '-output_tokens',
  'output_tokens',
] as const;
export type RunSort = (typeof RUN_SORTS)[number];

export interface RunQuery extends RunScope {
  readonly sort: RunSort;
}

export interface RunPosition {
  /** The first page's `pg_snapshot` as text; null in an order by present values. */
  readonly snapshot: string | null;
  /** The sorted value as the database prints it. */
  readonly place: string;
  readonly traceId: string;
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Null on the last page. */
  readonly next: RunPosition | null;
  /** How far the runs were searched when the page ended early for lack of time, as the sorted value. */
  readonly searchedTo: string | null;
}

/** A filter may open each call of a run. */
const FIRST_RUNS = 200;
const RUN_LIMITS: WalkLimits = { ...WALK_LIMITS, firstRows: FIRST_RUNS };

/** Runs without an ended call that the first page shows. */
const MAX_BEGUN_RUNS = 100;
/** Precedes every trace id, at the end of a search. */
const NO_TRACE = '';
/** Precedes all ended runs, for a first page full of begun ones. */
const FIRST_PLACE = '9999-12-31T23:59:59.999Z';

export function isTimeSort(sort: RunSort): boolean {
  return sort.endsWith('_at');
}

function sortedValue(sort: RunSort): RawBuilder<unknown> {
  const column = sort.replace('-', '');
  return column === 'duration_ms' ? RUN_DURATION_MS : sql`r.${sql.ref(column)}`;
}

export function runOrder(sort: RunSort): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  return sql`${sortedValue(sort)} ${direction}, r.trace_id ${direction}`;
}

function afterCondition(sort: RunSort, { place, traceId }: RunPosition): Condition {
  const follows = sort.startsWith('-') ? sql`<` : sql`>`;
  // Only a value of the column's own type is compared by an index.
  const value = isTimeSort(sort)
    ? sql`${place}::timestamptz`
    : sort.endsWith('total_cost')
      ? sql`${place}::numeric`
      : sql`${place}::numeric::int8`;
  return sql<SqlBool>`(${sortedValue(sort)}, r.trace_id) ${follows} (${value}, ${traceId}::text)`;
}

interface PlacedQuery extends RunQuery {
  readonly promoted: PromotedKeys;
}

function withinSlice(value: RawBuilder<unknown>, { from, to }: Slice): readonly Condition[] {
  return [
    ...(from === null ? [] : [sql<SqlBool>`${value} >= ${from}`]),
    ...(to === null ? [] : [sql<SqlBool>`${value} < ${to}`]),
  ];
}

function simplePage(query: PlacedQuery, slice: Slice, after: RunPosition | null, limit: number): RawBuilder<unknown> {
  const { sort } = query;
  const conditions = [
    ...runConditions({ ...query, callsWithin: slice }, query.promoted),
    ...withinSlice(sortedValue(sort), slice),
    ...(after === null ? [] : [afterCondition(sort, after)]),
  ];
  return sql`select ${sql.raw(RUN_COLUMNS)}, ${sortedValue(sort)}::text as place
    from llm_runs r where ${allOf(conditions)} order by ${runOrder(sort)} limit ${limit}`;
}

/** The runs that match among the next `count` of the order, and the last of those. */
function orderedPage(
  query: PlacedQuery,
  after: RunPosition | null,
  count: number,
  limit: number,
): readonly [RawBuilder<unknown>, RawBuilder<unknown>] {
  const { sort, promoted } = query;
  const all = { ...query, callFilters: [], runFilters: [], search: null, traces: null };
  const part = allOf([...runConditions(all, promoted), ...(after === null ? [] : [afterCondition(sort, after)])]);
  const order = runOrder(sort);
  const place = sql`${sortedValue(sort)}::text as place`;
  return [
    sql`select ${sql.raw(RUN_COLUMNS)}, ${place} from (
        select * from llm_runs r where ${part} order by ${order} limit ${count}
      ) r where ${allOf(runConditions(query, promoted))} order by ${order} limit ${limit}`,
    sql`select r.trace_id, ${place} from llm_runs r where ${part} order by ${order} limit 1 offset ${count - 1}`,
  ];
}

/** Orders by latest activity as of the snapshot. */
function snapshotPage(
  query: PlacedQuery,
  slice: Slice,
  after: RunPosition,
  snapshot: string,
  limit: number,
): RawBuilder<unknown> {
  const { accountId } = query;
  const seen = sql`${snapshot}::pg_snapshot`;
  const before = sql`(${after.place}::timestamptz, ${after.traceId}::text)`;
  const place = sql`max(coalesce(q.responded_at, q.requested_at))`;
  return sql`
    with moved as materialized (
      select distinct trace_id from llm_requests
      where account_id = ${accountId} and trace_id is not null
        and ingest_xid >= pg_snapshot_xmin(${seen}) and not pg_visible_in_snapshot(ingest_xid, ${seen})
    ), placed as (
      (select r.trace_id, r.ended_at as place from llm_runs r
       where ${allOf([...runConditions({ ...query, callsWithin: slice }, query.promoted), ...withinSlice(sql`r.ended_at`, slice)])}
         and (r.ended_at, r.trace_id) < ${before}
         and r.ended_at <= ${after.place}::timestamptz
         and not exists (select 1 from moved m where m.trace_id = r.trace_id)
       order by r.ended_at desc, r.trace_id desc
       limit ${limit})
      union all
      (select q.trace_id, ${place} as place
       from llm_requests q
       where q.account_id = ${accountId} and q.trace_id in (select trace_id from moved)
         and pg_visible_in_snapshot(q.ingest_xid, ${seen})
       group by q.trace_id
       having (${place}, q.trace_id) < ${before} and ${allOf([sql<SqlBool>`true`, ...withinSlice(place, query), ...withinSlice(place, slice)])})
    )
    select ${sql.raw(RUN_COLUMNS)}, p.place::text as place
    from placed p join llm_runs r on r.account_id = ${accountId} and r.trace_id = p.trace_id
    where ${allOf(runConditions({ ...query, from: null, to: null }, query.promoted))}
    order by p.place desc, p.trace_id desc
    limit ${limit}`;
}

function positionOf(row: SqlRow, snapshot: string | null): RunPosition {
  return { snapshot, place: String(row['place']), traceId: String(row['trace_id']) };
}

async function readSnapshot(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot');
  return rows[0]?.snapshot ?? null;
}

/** Without a condition that may pass over runs, an index has the page as it stands. */
function passesOverRuns({ callFilters, runFilters, search }: RunScope): boolean {
  return callFilters.length > 0 || runFilters.length > 0 || search !== null;
}

export async function listRuns(
  pool: pg.Pool,
  asked: RunQuery,
  after: RunPosition | null,
  limit: number,
  limits: WalkLimits = RUN_LIMITS,
): Promise<RunPage> {
  return inSnapshot(pool, async (client) => {
    const promoted = await readPromotedKeysFor(client, asked.accountId, asked.callFilters);
    const foundRuns = asked.search === null ? null : await findRuns(client, asked.accountId, asked.search);
    const startedMs = limits.monotonicMs();
    const left = () => limitsLeft(limits, startedMs);
    const traces = await findTraces(client, asked, promoted, left());
    const largeRuns =
      asked.callFilters.length === 0 || traces !== null ? [] : await findLargeRuns(client, asked.accountId);
    const query = { ...asked, promoted, foundRuns, traces, largeRuns };
    const isFirst = after === null && query.sort === '-ended_at';
    const snapshot = isFirst ? await readSnapshot(client) : (after?.snapshot ?? null);
    const begun = isFirst
      ? await listBegunRuns(client, { ...query, foundRuns: null }, Math.min(limit, MAX_BEGUN_RUNS))
      : [];
    if (begun.length === limit)
      return { runs: begun, next: { snapshot, place: FIRST_PLACE, traceId: NO_TRACE }, searchedTo: null };

    const wanted = limit - begun.length;
    const rows: SqlRow[] = [];
    const readRows = async (slice: Slice): Promise<boolean> => {
      const left = wanted + 1 - rows.length;
      const page =
        after !== null && after.snapshot !== null
          ? snapshotPage(query, slice, after, after.snapshot, left)
          : simplePage(query, slice, after, left);
      rows.push(...(await runSql(client, page)));
      return rows.length > wanted;
    };
    let stopped: RunPosition | null = null;
    if (query.traces !== null || !passesOverRuns(query)) await readRows({ from: null, to: null });
    else if (isTimeSort(query.sort)) {
      const end = await walkWindow(client, windowAfter(query, after), left(), readRows);
      if (end.type === 'time_spent') stopped = { snapshot, place: end.searchedTo.toISOString(), traceId: NO_TRACE };
    } else {
      let position = after;
      const end = await walkRows(client, left(), async (count) => {
        const [page, bottom] = orderedPage(query, position, count, wanted + 1 - rows.length);
        const found = await runSql(client, page);
        const [last] = await runSql(client, bottom);
        rows.push(...found);
        position = last === undefined ? null : positionOf(last, null);
        if (rows.length > wanted) return 'enough';
        return position === null ? 'whole' : 'more';
      });
      if (end === 'time_spent') stopped = position;
    }
    const page = rows.slice(0, wanted);
    const last = rows.length > wanted ? page.at(-1) : undefined;
    return {
      runs: [...begun, ...page.map(readRunRow)],
      next: stopped ?? (last === undefined ? null : positionOf(last, snapshot)),
      searchedTo: stopped?.place ?? null,
    };
  });
}

/** What is left of the window behind the position. */
function windowAfter({ accountId, sort, from, to }: RunQuery, after: RunPosition | null): WalkedWindow {
  const isByEnd = sort.endsWith('ended_at');
  const isNewestFirst = sort.startsWith('-');
  const place = after === null || after.place === FIRST_PLACE ? null : new Date(after.place);
  return {
    over: isByEnd ? 'runs_by_end' : 'runs_by_start',
    accountId,
    direction: isNewestFirst ? 'newest_first' : 'oldest_first',
    // A run that ended in the window may have started before it.
    from: place !== null && !isNewestFirst ? place : isByEnd ? from : null,
    to: place !== null && isNewestFirst ? new Date(place.getTime() + (after?.traceId === NO_TRACE ? 0 : 1)) : to,
  };
}
