/**
 * The sums over the calls of a time window and of its parts, in one snapshot. Long windows are read from the roll-up by
 * one dimension where the filter allows; else the calls are walked, the newest first, as long as there is time.
 */
import { type SqlBool, sql } from 'kysely';
import type pg from 'pg';
import { openSearch } from '../search/find-windows.ts';
import { inSnapshot } from '../store/pool.ts';
import { type BucketWidth, chooseBucketMs, listBucketStarts } from './bucket-width.ts';
import { addCallSums, type CallSums, NO_SUMS } from './call-sums.ts';
import {
  type CallPercentiles,
  type CollectedSums,
  collectHours,
  collectNothing,
  collectRecords,
  readCallPercentiles,
} from './collect-sums.ts';
import { HOUR_MS } from './cost-buckets.ts';
import type { TimeRange } from './cost-source.ts';
import { type FacetPart, planFacet, readFilledFrom } from './facet-plan.ts';
import { type LogScope, logConditions, searchSourcesOf } from './log-scope.ts';
import { type PromotedKeys, readPromotedKeysFor } from './promoted-keys.ts';
import { allOf, type Condition, runSql } from './run-sql.ts';
import { searchInWindows, spanOf } from './search-windows.ts';
import { WALK_LIMITS, type WalkLimits, walkWindow } from './walk-window.ts';

export type TimeWindow = TimeRange;

export interface LogSummary extends CallSums, CallPercentiles {
  readonly buckets: readonly (Pick<CallSums, 'calls' | 'errors' | 'total_cost' | 'unpriced_calls'> & {
    readonly start: string;
  })[];
  readonly bucket_ms: number;
  readonly source: 'hourly' | 'records';
  /** Calls before this time were not read, since the time was spent; null when all were. */
  readonly searched_to: string | null;
}

/** Shorter windows have finer buckets than an hour, which are read from the calls. */
const MIN_HOURLY_MS = 12 * HOUR_MS;

interface Question {
  readonly scope: LogScope;
  readonly promoted: PromotedKeys;
  readonly bucketMs: number;
  readonly limits: WalkLimits;
}

/** `interval` is the least width of a bucket; null for the narrowest that makes at most 120. */
export async function summariseLogs(
  pool: pg.Pool,
  scope: LogScope,
  window: TimeWindow,
  interval: BucketWidth | null,
  limits: WalkLimits = WALK_LIMITS,
): Promise<LogSummary> {
  const promoted = await readPromotedKeysFor(pool, scope.accountId, scope.filters);
  return inSnapshot(pool, async (client) => {
    const hourly = await planHours(client, scope, window);
    const finestMs = chooseBucketMs(window.from, window.to, interval);
    const bucketMs = hourly === null ? finestMs : Math.max(HOUR_MS, finestMs);
    const into = collectNothing();
    const question = { scope, promoted, bucketMs, limits };
    const walked = hourly === null ? window : await collectPlanned(client, question, window, hourly, into);
    const searchedTo = walked === null ? null : await collectWalked(client, question, walked, into);
    const buckets = listBucketStarts(window.from, window.to, bucketMs).map((start) => {
      const { calls, errors, total_cost, unpriced_calls } = into.byStart.get(start) ?? NO_SUMS;
      return { start: new Date(start).toISOString(), calls, errors, total_cost, unpriced_calls };
    });
    return {
      ...addCallSums([...into.byStart.values()]),
      ...readCallPercentiles(into),
      buckets,
      bucket_ms: bucketMs,
      source: hourly === null ? 'records' : 'hourly',
      searched_to: searchedTo?.toISOString() ?? null,
    };
  });
}

interface HourPlan {
  readonly parts: readonly FacetPart[];
  /** Milliseconds since 1970: earlier hours are not filled yet. */
  readonly filledFromMs: number;
}

async function planHours(client: pg.ClientBase, scope: LogScope, { from, to }: TimeRange): Promise<HourPlan | null> {
  if (scope.search !== null || to.getTime() - from.getTime() < MIN_HOURLY_MS) return null;
  const parts = planFacet(scope.filters);
  if (parts === null) return null;
  const filledFromMs = await readFilledFrom(
    client,
    scope.accountId,
    parts.map(({ facet }) => facet),
  );
  return filledFromMs === null || filledFromMs >= floorHour(to) ? null : { parts, filledFromMs };
}

function floorHour(time: Date): number {
  return Math.floor(time.getTime() / HOUR_MS) * HOUR_MS;
}

/** Returns the part of the window whose hours are not filled yet. */
async function collectPlanned(
  client: pg.ClientBase,
  question: Question,
  window: TimeRange,
  { parts, filledFromMs }: HourPlan,
  into: CollectedSums,
): Promise<TimeRange | null> {
  const { scope, promoted, bucketMs } = question;
  const isFilledBefore = filledFromMs <= floorHour(window.from);
  const from = isFilledBefore ? window.from : new Date(filledFromMs);
  const { hours, edges } = await cutHours(client, scope.accountId, { from, to: window.to });
  const calls = scope.excludeRuns ? 'outside_runs' : 'any';
  for (const part of parts) await collectHours(client, scope.accountId, part, hours, bucketMs, calls, into);
  for (const { sign, ...edge } of edges)
    await collectRecords(client, logConditions({ ...scope, ...edge }, promoted), bucketMs, into, sign);
  return isFilledBefore ? null : { from: window.from, to: from };
}

interface Edge extends TimeRange {
  readonly sign: 1 | -1;
}

/**
 * Whole hours, and the calls by which they differ from the window. Of an hour at an end the smaller side is read: calls
 * that are added to the hours, or taken from them. So at most half an hour of calls is read at each end.
 */
async function cutHours(
  client: pg.ClientBase,
  accountId: number,
  { from, to }: TimeRange,
): Promise<{ readonly hours: TimeRange; readonly edges: readonly Edge[] }> {
  const edges: Edge[] = [];
  let first = floorHour(from);
  if (from.getTime() - first > HOUR_MS / 2) {
    first += HOUR_MS;
    edges.push({ from, to: new Date(first), sign: 1 });
  } else if (from.getTime() > first) edges.push({ from: new Date(first), to: from, sign: -1 });
  let end = floorHour(to);
  const after = { from: to, to: new Date(end + HOUR_MS) };
  if (to.getTime() - end > HOUR_MS / 2 || (to.getTime() > end && (await isNearlyEmpty(client, accountId, after)))) {
    end += HOUR_MS;
    edges.push({ ...after, sign: -1 });
  } else if (to.getTime() > end) edges.push({ from: new Date(end), to, sign: 1 });
  return { hours: { from: new Date(first), to: new Date(end) }, edges };
}

const FEW_CALLS = 500;

/** Mostly, a window ends now. */
async function isNearlyEmpty(client: pg.ClientBase, accountId: number, { from, to }: TimeRange): Promise<boolean> {
  const rows = await runSql(
    client,
    sql`select from llm_requests where account_id = ${accountId} and requested_at >= ${from} and requested_at < ${to}
      limit ${FEW_CALLS}`,
  );
  return rows.length < FEW_CALLS;
}

/** Returns the time before which no calls were read; null when all were. */
async function collectWalked(
  client: pg.ClientBase,
  { scope, promoted, bucketMs, limits }: Question,
  window: TimeRange,
  into: CollectedSums,
): Promise<Date | null> {
  const search = scope.search === null ? null : await openSearch(client, scope.search, searchSourcesOf(scope));
  const end = await walkWindow(
    client,
    { over: 'calls', accountId: scope.accountId, direction: 'newest_first', ...window },
    limits,
    async (slice) => {
      const conditions = logConditions({ ...scope, ...slice, search: null }, promoted);
      if (search === null) {
        await collectRecords(client, conditions, bucketMs, into);
        return false;
      }
      const windows = await search.windowsIn(spanOf(slice));
      const ask = (within: Condition) => sql`select * from llm_requests where ${allOf([...conditions, within])}`;
      const calls = searchInWindows(search.text, windows, ask, null);
      if (windows.length > 0)
        await collectRecords(client, [sql<SqlBool>`true`], bucketMs, into, 1, sql`(${calls}) calls`);
      return false;
    },
  );
  return end.type === 'time_spent' ? end.searchedTo : null;
}
