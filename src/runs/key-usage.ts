/** What each gateway key was used for lately: calls and known cost of a day and of 30 days, from the records. */
import type pg from 'pg';
import { inTransaction } from '../store/pool.ts';

export interface UsageSum {
  readonly calls: number;
  /** US dollars as decimal text; "at least" while `unpricedCalls` is above 0. */
  readonly cost: string;
  readonly unpricedCalls: number;
}

export interface KeyUsage {
  readonly day: UsageSum;
  readonly month: UsageSum;
}

const NOTHING: UsageSum = { calls: 0, cost: '0', unpricedCalls: 0 };

/** Of a key that has no call. */
export const NO_USAGE: KeyUsage = { day: NOTHING, month: NOTHING };

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;

interface UsageRow {
  readonly key_id: number;
  readonly day_calls: number;
  readonly day_cost: string;
  readonly day_unpriced: number;
  readonly month_calls: number;
  readonly month_cost: string;
  readonly month_unpriced: number;
}

const USAGE = `
  select key_id,
    count(*) filter (where is_recent) as day_calls,
    coalesce(trim_scale(sum(cost) filter (where is_recent)), 0)::text as day_cost,
    count(*) filter (where is_recent and is_unpriced) as day_unpriced,
    count(*) as month_calls,
    coalesce(trim_scale(sum(cost)), 0)::text as month_cost,
    count(*) filter (where is_unpriced) as month_unpriced
  from (
    select key_id, requested_at >= $3 as is_recent, coalesce(total_cost, known_cost) as cost,
      total_cost is null as is_unpriced
    from llm_requests where account_id = $1 and requested_at >= $2
  ) calls
  group by key_id`;

/** By key id; keys without calls are absent. The server itself gives up after `limitMs` (SQLSTATE 57014). */
export async function readKeyUsage(
  pool: pg.Pool,
  accountId: number,
  nowMs: number,
  limitMs: number,
): Promise<ReadonlyMap<number, KeyUsage>> {
  const rows = await inTransaction(pool, async (client) => {
    await client.query("select set_config('statement_timeout', $1, true)", [String(limitMs)]);
    const values = [accountId, new Date(nowMs - MONTH_MS), new Date(nowMs - DAY_MS)];
    return (await client.query<UsageRow>(USAGE, values)).rows;
  });
  return new Map(
    rows.map((row) => [
      row.key_id,
      {
        day: { calls: row.day_calls, cost: row.day_cost, unpricedCalls: row.day_unpriced },
        month: { calls: row.month_calls, cost: row.month_cost, unpricedCalls: row.month_unpriced },
      },
    ]),
  );
}
