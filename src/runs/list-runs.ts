/**
 * A page of the runs. By default the latest activity comes first: a run's `ended_at` moves while calls arrive, so that
 * order keeps the database's snapshot of its first page, and a run that moved since is placed where it stood then. So
 * every run that existed when paging began comes exactly once; what is shown of it, and what filters ask, is its present
 * state. The other orders go by the present value: a run that changes while it is paged may come twice or not at all.
 */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { listBegunRuns } from './list-begun-runs.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';
import { RUN_DURATION_MS, type RunScope, runConditions } from './run-conditions.ts';
import { RUN_COLUMNS, type RunRow, readRunRow } from './run-row.ts';
import { allOf, type Condition, runSql, type SqlRow } from './run-sql.ts';

/** A minus in front: from the latest or the most. */
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

/** Where a page ended. */
export interface RunPosition {
  /** The snapshot of the first page (`pg_snapshot` as text); null in an order that goes by present values. */
  readonly snapshot: string | null;
  /** The value that is sorted by, as the database prints it. */
  readonly place: string;
  readonly traceId: string;
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Null on the last page. */
  readonly next: RunPosition | null;
}

/** Runs of which no call has ended, on the first page. */
const MAX_BEGUN_RUNS = 100;
/** Before all that has ended, for a first page that is full of runs that have only begun. */
const FIRST_PLACE = '9999-12-31T23:59:59.999Z';

/** Whether what is sorted by is a time, as opposed to a number. */
export function isTimeSort(sort: RunSort): boolean {
  return sort.endsWith('_at');
}

function sortedValue(sort: RunSort): RawBuilder<unknown> {
  const column = sort.replace('-', '');
  return column === 'duration_ms' ? RUN_DURATION_MS : sql`r.${sql.ref(column)}`;
}

/** `order by` of a whole question in which `r` is `llm_runs`. */
export function runOrder(sort: RunSort): RawBuilder<unknown> {
  const direction = sort.startsWith('-') ? sql`desc` : sql`asc`;
  return sql`${sortedValue(sort)} ${direction}, r.trace_id ${direction}`;
}

function afterCondition(sort: RunSort, { place, traceId }: RunPosition): Condition {
  const follows = sort.startsWith('-') ? sql`<` : sql`>`;
  const type = isTimeSort(sort) ? sql`timestamptz` : sql`numeric`;
  return sql<SqlBool>`(${sortedValue(sort)}, r.trace_id) ${follows} (${place}::${type}, ${traceId}::text)`;
}

interface PlacedQuery extends RunQuery {
  readonly promoted: PromotedKeys;
}

/** By present values. */
function simplePage(query: PlacedQuery, after: RunPosition | null, limit: number): RawBuilder<unknown> {
  const { sort } = query;
  const conditions = [
    ...runConditions(query, query.promoted),
    ...(after === null ? [] : [afterCondition(sort, after)]),
  ];
  const snapshot = sort === '-ended_at' ? sql`pg_current_snapshot()::text` : sql`null`;
  return sql`select ${sql.raw(RUN_COLUMNS)}, ${sortedValue(sort)}::text as place, ${snapshot} as snapshot
    from llm_runs r where ${allOf(conditions)} order by ${runOrder(sort)} limit ${limit}`;
}

/** By latest activity, as of the snapshot. */
function snapshotPage(query: PlacedQuery, after: RunPosition, snapshot: string, limit: number): RawBuilder<unknown> {
  const { accountId, from } = query;
  const seen = sql`${snapshot}::pg_snapshot`;
  const before = sql`(${after.place}::timestamptz, ${after.traceId}::text)`;
  const place = sql`max(coalesce(q.responded_at, q.requested_at))`;
  const inWindow = from === null ? sql`` : sql`and ${place} >= ${from}`;
  return sql`
    with moved as materialized (
      select distinct trace_id from llm_requests
      where account_id = ${accountId} and trace_id is not null
        and ingest_xid >= pg_snapshot_xmin(${seen}) and not pg_visible_in_snapshot(ingest_xid, ${seen})
    ), placed as (
      (select r.trace_id, r.ended_at as place from llm_runs r
       where ${allOf(runConditions(query, query.promoted))} and (r.ended_at, r.trace_id) < ${before}
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
       having (${place}, q.trace_id) < ${before} ${inWindow})
    )
    select ${sql.raw(RUN_COLUMNS)}, p.place::text as place, ${snapshot} as snapshot
    from placed p join llm_runs r on r.account_id = ${accountId} and r.trace_id = p.trace_id
    where ${allOf(runConditions({ ...query, from: null, to: null }, query.promoted))}
    order by p.place desc, p.trace_id desc
    limit ${limit}`;
}

function positionOf(row: SqlRow): RunPosition {
  return {
    snapshot: typeof row['snapshot'] === 'string' ? row['snapshot'] : null,
    place: String(row['place']),
    traceId: String(row['trace_id']),
  };
}

async function readSnapshot(pool: pg.Pool): Promise<string | null> {
  const { rows } = await pool.query<{ snapshot: string }>('select pg_current_snapshot()::text as snapshot');
  return rows[0]?.snapshot ?? null;
}

export async function listRuns(
  pool: pg.Pool,
  asked: RunQuery,
  after: RunPosition | null,
  limit: number,
): Promise<RunPage> {
  const query = { ...asked, promoted: await readPromotedKeysFor(pool, asked.accountId, asked.callFilters) };
  if (after !== null && after.snapshot !== null) {
    const rows = await runSql(pool, snapshotPage(query, after, after.snapshot, limit + 1));
    return pageOf([], rows, limit);
  }
  if (after !== null || query.sort !== '-ended_at')
    return pageOf([], await runSql(pool, simplePage(query, after, limit + 1)), limit);
  // Its snapshot comes first: a run whose first call ends in between is then not on the pages that follow.
  const snapshot = await readSnapshot(pool);
  const begun = await listBegunRuns(pool, query, Math.min(limit, MAX_BEGUN_RUNS));
  if (begun.length === limit) return { runs: begun, next: { snapshot, place: FIRST_PLACE, traceId: '' } };
  const known = new Set(begun.map((run) => run.trace_id));
  const rows = await runSql(pool, simplePage(query, null, limit + 1));
  return pageOf(
    begun,
    rows.filter((row) => !known.has(String(row['trace_id']))),
    limit - begun.length,
  );
}

function pageOf(begun: readonly RunRow[], rows: readonly SqlRow[], limit: number): RunPage {
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { runs: [...begun, ...page.map(readRunRow)], next: last === undefined ? null : positionOf(last) };
}
