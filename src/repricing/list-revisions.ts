/** The history of one call's cost: what it was before each re-pricing, what it became, and why. */
import type pg from 'pg';
import { formatUsd, parseUsd } from '../usd.ts';

/** Of one call; each is a job that somebody asked for. */
const MAX_REVISIONS = 500;

export interface CostRevision {
  readonly jobId: number;
  readonly revisedAt: Date;
  readonly reason: string;
  readonly oldPriceVersion: string | null;
  readonly newPriceVersion: string | null;
  readonly oldBillingModel: string | null;
  readonly newBillingModel: string | null;
  readonly oldCostStatus: string;
  readonly newCostStatus: string;
  /** Decimal text, as all money here. */
  readonly oldTotalCost: string | null;
  readonly newTotalCost: string | null;
  readonly oldKnownCost: string | null;
  readonly newKnownCost: string | null;
  readonly oldCostLines: unknown;
}

function plain(money: string | null): string | null {
  return money === null ? null : formatUsd(parseUsd(money));
}

/** The newest first. */
export async function listRevisions(
  pool: pg.Pool,
  accountId: number,
  requestId: string,
): Promise<readonly CostRevision[]> {
  const { rows } = await pool.query<CostRevision>(
    `select job_id as "jobId", revised_at as "revisedAt", reason, old_price_version as "oldPriceVersion",
       new_price_version as "newPriceVersion", old_billing_model as "oldBillingModel",
       new_billing_model as "newBillingModel", old_cost_status as "oldCostStatus", new_cost_status as "newCostStatus",
       old_total_cost as "oldTotalCost", new_total_cost as "newTotalCost", old_known_cost as "oldKnownCost",
       new_known_cost as "newKnownCost", old_cost_lines as "oldCostLines"
     from cost_revisions where account_id = $1 and request_id = $2 order by revised_at desc, job_id desc limit $3`,
    [accountId, requestId, MAX_REVISIONS],
  );
  return rows.map((row) => ({
    ...row,
    oldTotalCost: plain(row.oldTotalCost),
    newTotalCost: plain(row.newTotalCost),
    oldKnownCost: plain(row.oldKnownCost),
    newKnownCost: plain(row.newKnownCost),
  }));
}
