/** The history of one call's cost: before, after and why, in the API's form. */
import type pg from 'pg';

/** Per call; each comes from a requested job. */
const MAX_REVISIONS = 500;

export interface CostRevision {
  readonly job_id: number;
  readonly revised_at: string;
  readonly reason: string;
  readonly old_price_version: string | null;
  readonly new_price_version: string | null;
  readonly old_billing_model: string | null;
  readonly new_billing_model: string | null;
  readonly old_cost_status: string;
  readonly new_cost_status: string;
  /** Decimal text, like all amounts here. */
  readonly old_total_cost: string | null;
  readonly new_total_cost: string | null;
  readonly old_known_cost: string | null;
  readonly new_known_cost: string | null;
  readonly old_cost_lines: unknown;
}

const LIST_REVISIONS = `
  select job_id, to_char(revised_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as revised_at, reason,
    old_price_version, new_price_version, old_billing_model, new_billing_model, old_cost_status, new_cost_status,
    ${['old_total_cost', 'new_total_cost', 'old_known_cost', 'new_known_cost'].map((column) => `trim_scale(${column})::text as ${column}`).join(', ')},
    old_cost_lines
  from cost_revisions r where account_id = $1 and request_id = $2 order by r.revised_at desc, job_id desc limit $3`;

export async function listRevisions(pool: pg.Pool, accountId: number, requestId: string): Promise<CostRevision[]> {
  const { rows } = await pool.query<CostRevision>(LIST_REVISIONS, [accountId, requestId, MAX_REVISIONS]);
  return rows;
}
