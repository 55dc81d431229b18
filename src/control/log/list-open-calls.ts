/** The calls of a run that have not ended, in time order, as known at their beginning. */
import type pg from 'pg';

const MAX_OPEN_CALLS = 2_000;

export interface OpenCall {
  readonly id: string;
  readonly requested_at: string;
  readonly span_key: string | null;
  readonly span_name: string;
  readonly provider: string;
  readonly model_requested: string | null;
}

const OPEN = `
  select id, requested_at, span_key, span_name, provider, model_requested
  from llm_open_calls where account_id = $1 and trace_id = $2
  order by requested_at, id limit ${MAX_OPEN_CALLS}`;

export async function listOpenCalls(pool: pg.Pool, accountId: number, traceId: string): Promise<readonly OpenCall[]> {
  const { rows } = await pool.query<Omit<OpenCall, 'requested_at'> & { readonly requested_at: Date }>(OPEN, [
    accountId,
    traceId,
  ]);
  return rows.map((row) => ({ ...row, requested_at: row.requested_at.toISOString() }));
}
