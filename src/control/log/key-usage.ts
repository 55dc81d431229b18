/**
 * The calls and the known cost of each gateway key within a day and within 30 days: from the sums by hour, and from the calls
 * between the beginning of the time and its first whole hour.
 */
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

/** The first whole hour from the time `$n` on. */
function firstHour(parameter: string): string {
  return `date_trunc('hour', ${parameter}::timestamptz + interval '1 hour' - interval '1 millisecond', 'UTC')`;
}

function sumsSince(parameter: string, period: string): string {
  return `
    select key_id, '${period}' as period, calls, total_cost as cost, unpriced_calls as unpriced
    from llm_cost_hours where account_id = $1 and facet = '' and hour >= ${firstHour(parameter)}
    union all
    select key_id, '${period}', 1, coalesce(total_cost, known_cost), (total_cost is null)::int
    from llm_requests where account_id = $1 and requested_at >= ${parameter} and requested_at < ${firstHour(parameter)}`;
}

function sumOf(column: string, period: string): string {
  return `coalesce(sum(${column}) filter (where period = '${period}'), 0)`;
}

const USAGE = `
  select key_id, ${(['day', 'month'] as const)
    .map(
      (period) => `${sumOf('calls', period)}::int8 as ${period}_calls,
    trim_scale(${sumOf('cost', period)})::text as ${period}_cost, ${sumOf('unpriced', period)}::int8 as ${period}_unpriced`,
    )
    .join(', ')}
  from (${sumsSince('$2', 'month')} union all ${sumsSince('$3', 'day')}) parts
  group by key_id having ${sumOf('calls', 'month')} > 0`;

/** Keyed by key id; keys without calls are absent. The server gives up after `limitMs` (SQLSTATE 57014). */
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
