/** The leaves of a run, in time order, paged on (requested_at, id), without the long columns that `logs/{id}` has. */
import type pg from 'pg';
import type { LogRow } from '../store/log-columns.ts';
import type { LogPage, LogPosition } from './list-logs.ts';
import { formatLogRecord, LEAF_COLUMN_NAMES, type LeafColumn } from './log-record.ts';

/** `columns` is SQL with `id` and `requested_at` in it. */
export async function readRunPage<R extends Readonly<Record<string, unknown>>>(
  pool: pg.Pool,
  columns: string,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<LogPage<R>> {
  const { rows } = await pool.query<R & { readonly id: string; readonly requested_at: Date }>(
    `select ${columns}
     from llm_requests
     where account_id = $1 and trace_id = $2
       and ($3::timestamptz is null or ((requested_at, id) > ($3, $4::uuid) and requested_at >= $3))
     order by requested_at, id
     limit $5`,
    [accountId, traceId, after?.requestedAt ?? null, after?.id ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return { records: page, next: last === undefined ? null : { requestedAt: last.requested_at, id: last.id } };
}

export async function listRunCalls(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<LogPage<Pick<LogRow, LeafColumn>>> {
  const { records, next } = await readRunPage(pool, LEAF_COLUMN_NAMES.join(', '), accountId, traceId, after, limit);
  return { records: records.map((row) => formatLogRecord(row, LEAF_COLUMN_NAMES)), next };
}
