/** The calls before and after one in its run, in the order of the run's calls. Calls that are open are passed over. */
import type pg from 'pg';

export interface Neighbours {
  readonly previous_id: string | null;
  readonly next_id: string | null;
}

const NEIGHBOURS = `
  select
    (select id from llm_requests where account_id = $1 and trace_id = $2
       and (requested_at, id) < ($3::timestamptz, $4::uuid) and requested_at <= $3
     order by requested_at desc, id desc limit 1) as previous_id,
    (select id from llm_requests where account_id = $1 and trace_id = $2
       and (requested_at, id) > ($3::timestamptz, $4::uuid) and requested_at >= $3
     order by requested_at, id limit 1) as next_id`;

export async function readNeighbours(
  pool: pg.Pool,
  accountId: number,
  traceId: string,
  requestedAt: Date,
  id: string,
): Promise<Neighbours> {
  const { rows } = await pool.query<Neighbours>(NEIGHBOURS, [accountId, traceId, requestedAt, id]);
  return rows[0] ?? { previous_id: null, next_id: null };
}
