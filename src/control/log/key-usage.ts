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
  /** Of a key that was rotated within 30 days: calls with it since then. */
  readonly callsSinceRotation: number | null;
}

const NOTHING: UsageSum = { calls: 0, cost: '0', unpricedCalls: 0 };

export const NO_USAGE: KeyUsage = { day: NOTHING, month: NOTHING, callsSinceRotation: null };

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

interface RotationRow {
  readonly key_id: number;
  readonly calls: number;
}

/** Calls of the old half of each rotation, whose clients have not moved. */
const SINCE_ROTATION = `
  select k.id as key_id, (coalesce((
      select sum(calls) from llm_cost_hours
      where account_id = $1 and facet = '' and key_id = k.id and hour >= ${firstHour('k.replaced_at')}
    ), 0) + (
      select count(*) from llm_requests
      where account_id = $1 and key_id = k.id
        and requested_at >= k.replaced_at and requested_at < ${firstHour('k.replaced_at')}
    ))::int8 as calls
  from gateway_keys k where account_id = $1 and replaced_at >= $2`;

/** Keyed by key id; keys without calls are absent. The server gives up after `limitMs` (SQLSTATE 57014). */
export async function readKeyUsage(
  pool: pg.Pool,
  accountId: number,
  nowMs: number,
  limitMs: number,
): Promise<ReadonlyMap<number, KeyUsage>> {
  const { sums, rotations } = await inTransaction(pool, async (client) => {
    await client.query("select set_config('statement_timeout', $1, true)", [String(limitMs)]);
    const month = new Date(nowMs - MONTH_MS);
    const used = await client.query<UsageRow>(USAGE, [accountId, month, new Date(nowMs - DAY_MS)]);
    const rotated = await client.query<RotationRow>(SINCE_ROTATION, [accountId, month]);
    return { sums: used.rows, rotations: new Map(rotated.rows.map(({ key_id, calls }) => [key_id, calls])) };
  });
  const unused = [...rotations].map(([id, calls]) => [id, { ...NO_USAGE, callsSinceRotation: calls }] as const);
  return new Map([
    ...unused,
    ...sums.map((row): [number, KeyUsage] => [
      row.key_id,
      {
        day: { calls: row.day_calls, cost: row.day_cost, unpricedCalls: row.day_unpriced },
        month: { calls: row.month_calls, cost: row.month_cost, unpricedCalls: row.month_unpriced },
        callsSinceRotation: rotations.get(row.key_id) ?? null,
      },
    ]),
  ]);
}
