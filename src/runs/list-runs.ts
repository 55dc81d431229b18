/**
 * A page of the runs, the latest activity first. A run's `ended_at` moves while calls arrive, so paging keeps the
 * database's snapshot of its first page: a run that moved since is placed where it stood then, and so every run that
 * existed when paging began comes exactly once. What is shown of it is its present state.
 */
import type pg from 'pg';
import type { LogRecord } from './log-record.ts';
import { formatRunRow, RUN_COLUMNS, type RunRow } from './run-row.ts';

export interface RunQuery {
  readonly accountId: number;
  /** Runs whose latest activity is at or after this. */
  readonly from: Date | null;
  /** Runs whose latest activity is before this. */
  readonly to: Date | null;
}

/** Where a page ended: the snapshot of the first page (`pg_snapshot` as text) and the last run's place in it. */
export interface RunPosition {
  readonly snapshot: string;
  readonly endedAt: Date;
  readonly traceId: string;
}

export interface RunPage {
  readonly runs: readonly LogRecord[];
  /** Null on the last page. */
  readonly next: RunPosition | null;
}

interface PlacedRunRow extends RunRow {
  readonly place: Date;
  readonly snapshot: string;
}

const FIRST_PAGE = `
  select ${RUN_COLUMNS}, r.ended_at as place, pg_current_snapshot()::text as snapshot
  from llm_runs r
  where r.account_id = $1
    and ($2::timestamptz is null or r.ended_at >= $2) and ($3::timestamptz is null or r.ended_at < $3)
  order by r.ended_at desc, r.trace_id desc
  limit $4`;

const NEXT_PAGE = `
  with moved as materialized (
    select distinct trace_id from llm_requests
    where account_id = $1 and trace_id is not null
      and ingest_xid >= pg_snapshot_xmin($5::pg_snapshot) and not pg_visible_in_snapshot(ingest_xid, $5::pg_snapshot)
  ), placed as (
    (select trace_id, ended_at as place from llm_runs u
     where account_id = $1 and (ended_at, trace_id) < ($6::timestamptz, $7::text) and ended_at <= $6
       and ($2::timestamptz is null or ended_at >= $2) and ($3::timestamptz is null or ended_at < $3)
       and not exists (select 1 from moved m where m.trace_id = u.trace_id)
     order by ended_at desc, trace_id desc
     limit $4)
    union all
    (select q.trace_id, max(coalesce(q.responded_at, q.requested_at)) as place
     from llm_requests q
     where q.account_id = $1 and q.trace_id in (select trace_id from moved)
       and pg_visible_in_snapshot(q.ingest_xid, $5::pg_snapshot)
     group by q.trace_id
     having (max(coalesce(q.responded_at, q.requested_at)), q.trace_id) < ($6::timestamptz, $7::text)
       and ($2::timestamptz is null or max(coalesce(q.responded_at, q.requested_at)) >= $2))
  )
  select ${RUN_COLUMNS}, p.place, $5::text as snapshot
  from placed p join llm_runs r on r.account_id = $1 and r.trace_id = p.trace_id
  order by p.place desc, p.trace_id desc
  limit $4`;

export async function listRuns(
  pool: pg.Pool,
  { accountId, from, to }: RunQuery,
  after: RunPosition | null,
  limit: number,
): Promise<RunPage> {
  const bounds = [accountId, from, to, limit + 1];
  const { rows } =
    after === null
      ? await pool.query<PlacedRunRow>(FIRST_PAGE, bounds)
      : await pool.query<PlacedRunRow>(NEXT_PAGE, [...bounds, after.snapshot, after.endedAt, after.traceId]);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    runs: page.map(formatRunRow),
    next: last === undefined ? null : { snapshot: last.snapshot, endedAt: last.place, traceId: last.trace_id },
  };
}
