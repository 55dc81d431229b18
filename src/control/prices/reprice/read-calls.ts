/** Reads a chunk of calls, newest first, in two steps so that a selective filter makes no chunk long. */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { z } from 'zod';
import { type LogFilter, parseLogFilter, parseTime } from '../../log/log-filter.ts';
import { logConditions } from '../../log/log-scope.ts';
import { readPromotedKeysFor } from '../../log/promoted-keys.ts';
import { allOf, type Condition, compileSql } from '../../log/run-sql.ts';
import { BILLABLE_COLUMNS } from '../declared/billable-from-row.ts';
import { COST_COLUMNS, type PricedRow } from './reprice-call.ts';
import type { RepriceInput } from './reprice-request.ts';

/** The next chunk begins before this call. The time is PostgreSQL's text, so that nothing is rounded. */
export const CallPosition = z.object({ requestedAt: z.string(), id: z.uuid() });
export type CallPosition = Readonly<z.infer<typeof CallPosition>>;

/** Before the newest call, even one whose clock is ahead. */
export const NEWEST: CallPosition = { requestedAt: 'infinity', id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };

export interface CallRange {
  readonly accountId: number;
  readonly from: Date | null;
  readonly to: Date | null;
  readonly filters: readonly LogFilter[];
  /** Served, else requested; null: any. */
  readonly model: string | null;
  readonly only: RepriceInput['only'];
}

export function rangeOf(accountId: number, input: RepriceInput): CallRange {
  return {
    accountId,
    from: input.from === null ? null : parseTime(input.from),
    to: input.to === null ? null : parseTime(input.to),
    filters: input.filters.map(parseLogFilter),
    model: input.model,
    only: input.only,
  };
}

/** Must equal the condition of the index `llm_requests_without_cost`. */
const WITHOUT_COST = sql<SqlBool>`cost_status in ('unpriced', 'partial')`;
const PRICED = sql<SqlBool>`cost_status in ('exact', 'partial', 'unpriced')`;
/** Estimated costs follow prices, also when there was none so far. */
const ESTIMATED = sql<SqlBool>`estimated_tokens is not null`;

function walkConditions(range: CallRange): readonly Condition[] {
  const { accountId, from, to, only } = range;
  const conditions = logConditions({ accountId, from, to, filters: [], search: null, excludeRuns: false }, new Map());
  return only === 'unpriced' ? [...conditions, WITHOUT_COST] : conditions;
}

export async function countCalls(client: pg.ClientBase, range: CallRange): Promise<number> {
  const { accountId, from, to, only } = range;
  const hours = sql`select coalesce(sum(calls), 0)::int8 as calls from llm_cost_hours
    where account_id = ${accountId} and facet = ''
      and hour >= date_trunc('hour', ${from ?? '-infinity'}::timestamptz, 'UTC') and hour < ${to ?? 'infinity'}::timestamptz`;
  const calls = sql`select count(*)::int8 as calls from llm_requests where ${allOf(walkConditions(range))}`;
  const { text, values } = compileSql(only === 'unpriced' ? calls : hours);
  const { rows } = await client.query<{ calls: number }>(text, values);
  return rows[0]?.calls ?? 0;
}

export interface ReadCalls {
  readonly read: number;
  readonly last: CallPosition | null;
  readonly rows: readonly PricedRow[];
}

interface Reach {
  readonly read: number;
  readonly requested_at: string | null;
  readonly id: string | null;
}

/** The provider's object is left out: no price depends on it, and it is half the data. */
const COLUMNS = sql.raw(
  [...BILLABLE_COLUMNS, ...COST_COLUMNS]
    .map((column) => (column === 'native_usage' ? 'null::jsonb as native_usage' : column))
    .join(', '),
);

/** Runs in the chunk's transaction. `withEstimates` adds calls with only an estimated cost. */
export async function readCalls(
  client: pg.ClientBase,
  range: CallRange,
  before: CallPosition,
  limit: number,
  withEstimates: boolean,
): Promise<ReadCalls> {
  const isBefore = sql<SqlBool>`requested_at <= ${before.requestedAt}::timestamptz
    and (requested_at, id) < (${before.requestedAt}::timestamptz, ${before.id}::uuid)`;
  const walk = [...walkConditions(range), isBefore];
  const reach = compileSql(sql`
    with passed as materialized (
      select requested_at, id from llm_requests where ${allOf(walk)} order by requested_at desc, id desc limit ${limit}
    )
    select (select count(*) from passed)::int8 as read, requested_at::text, id
    from passed order by requested_at, id limit 1`);
  const { rows: reaches } = await client.query<Reach>(reach.text, reach.values);
  const { read = 0, requested_at: requestedAt = null, id = null } = reaches[0] ?? {};
  if (requestedAt === null || id === null) return { read: 0, last: null, rows: [] };

  const promoted = await readPromotedKeysFor(client, range.accountId, range.filters);
  const { accountId, from, to, filters, model, only } = range;
  const isPriced =
    only === 'unpriced' ? WITHOUT_COST : withEstimates ? sql<SqlBool>`(${PRICED} or ${ESTIMATED})` : PRICED;
  const wanted = [
    ...logConditions({ accountId, from, to, filters, search: null, excludeRuns: false }, promoted),
    ...(model === null ? [] : [sql<SqlBool>`coalesce(model, model_requested) = ${model}`]),
    isPriced,
    isBefore,
    sql<SqlBool>`requested_at >= ${requestedAt}::timestamptz
      and (requested_at, id) >= (${requestedAt}::timestamptz, ${id}::uuid)`,
  ];
  const chunk = compileSql(sql`select ${COLUMNS} from llm_requests where ${allOf(wanted)}`);
  const { rows } = await client.query<PricedRow>(chunk.text, chunk.values);
  return { read, last: { requestedAt, id }, rows };
}
