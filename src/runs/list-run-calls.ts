/** The leaves of a run, in time order, paged on (requested_at, id). Without the long columns: `logs/{id}` has them. */
import type pg from 'pg';
import type { LogPage, LogPosition } from './list-logs.ts';
import { formatLogRecord, LEAF_COLUMN_NAMES } from './log-record.ts';

const CALLS = `
  select ${LEAF_COLUMN_NAMES.join(', ')}
  from llm_requests
  where account_id = $1 and trace_id = $2
    and ($3::timestamptz is null or ((requested_at, id) > ($3, $4::uuid) and requested_at >= $3))
  order by requested_at, id
  limit $5`;

export async function listRunCalls(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
): Promise<LogPage> {
  const { rows } = await pool.query<Record<string, unknown> & { id: string; requested_at: Date }>(CALLS, [
    accountId,
    traceId,
    after?.requestedAt ?? null,
    after?.id ?? null,
    limit + 1,
  ]);
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    records: page.map((row) => formatLogRecord(row, LEAF_COLUMN_NAMES)),
    next: last === undefined ? null : { requestedAt: last.requested_at, id: last.id },
  };
}
