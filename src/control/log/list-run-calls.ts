/** The leaves of a run, in time order, paged on (requested_at, id), without the long columns that `logs/{id}` has. */
import type pg from 'pg';
import type { LogRow } from '../store/log-columns.ts';
import type { LogPage } from './list-logs.ts';
import type { LogPosition } from './log-order.ts';
import { formatLogRecord, LEAF_COLUMN_NAMES, type LeafColumn } from './log-record.ts';

/** Asked with the values of `bindRunPage`; it has one row more than the page. `columns` is SQL. */
export function runPage(columns: string): string {
  return `
  select ${columns} from llm_requests
  where account_id = $1 and trace_id = $2
    and ($3::timestamptz is null or ((requested_at, id) > ($3, $4::uuid) and requested_at >= $3))
  order by requested_at, id limit $5::int4 + 1`;
}

export function bindRunPage(accountId: number, traceId: string, after: LogPosition | null, limit: number): unknown[] {
  return [accountId, traceId, after?.requestedAt ?? null, after?.id ?? null, limit];
}

const PAGE = runPage(LEAF_COLUMN_NAMES.join(', '));

type LeafRow = Readonly<Record<string, unknown>> & { readonly id: string; readonly requested_at: Date };

export async function listRunCalls(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<LogPage<Pick<LogRow, LeafColumn>>> {
  const { rows } = await pool.query<LeafRow>(PAGE, bindRunPage(accountId, traceId, after, limit));
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    records: page.map((row) => formatLogRecord(row, LEAF_COLUMN_NAMES)),
    next: last === undefined ? null : { requestedAt: last.requested_at, id: last.id },
  };
}
