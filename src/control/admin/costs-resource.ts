/** Costs by model, provider, key, metadata and time. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { isTimeZone } from '../log/cost-buckets.ts';
import {
  COST_GROUP_COLUMNS,
  COST_INTERVALS,
  type CostGroup,
  CostQueryError,
  parseCostGroups,
} from '../log/cost-query.ts';
import type { CostBucket } from '../log/cost-table.ts';
import { type Costs, listCosts } from '../log/list-costs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { CallSums, SearchedTo } from './log-bodies.ts';
import { accountOf } from './principal.ts';
import {
  COMMON_ERRORS,
  FilterParameter,
  jsonAnswer,
  limitParameter,
  Money,
  Time,
  TimeParameter,
  toDate,
} from './schemas.ts';
import { filtersOf, WaitParameter, walkLimitsOf } from './scope-parameters.ts';

const CostsQuery = z.strictObject({
  group_by: z
    .string()
    .max(1_024)
    .default('model')
    .describe(
      `One or two, with a comma: ${COST_GROUP_COLUMNS.join(', ')}, metadata.<Key> (case does not matter; a comma in it is %2C). Calls without the value are the group null`,
    ),
  interval: z
    .enum([...COST_INTERVALS, 'auto'])
    .default('none')
    .describe('Width of the buckets of time; auto chooses by the window. At most 1,000 buckets'),
  from: TimeParameter.optional().describe('`requested_at` at or after this time; without it from the first call on'),
  to: TimeParameter.optional().describe('`requested_at` before this time; without it up to now'),
  tz: z
    .string()
    .max(64)
    .default('UTC')
    .describe('Zone by whose clocks days and hours are cut, such as Europe/Berlin; weeks begin on Monday'),
  f: FilterParameter,
  wait_ms: WaitParameter,
  limit: limitParameter(200, 20).describe('Groups that are told apart, by cost; the others are the rest. At most 200'),
});

const CostBucketFields = z.object({
  start: Time.describe('One of bucket_starts'),
  total_cost: Money,
  calls: z.number().int(),
  unpriced_calls: z.number().int(),
});
const BucketList = z
  .array(CostBucketFields)
  .nullable()
  .describe('Only buckets with calls, in order of time; null without an interval');

const CostRowFields = z.object({
  group: z.array(z.string().nullable()).describe('A value for each of group_by; null: not set. A key is its id'),
  ...CallSums,
  buckets: BucketList,
});

const CostsAnswer = z
  .object({
    from: Time,
    to: Time,
    tz: z.string(),
    interval: z.enum(COST_INTERVALS),
    totals: z.object(CallSums).describe('Of all calls: of data and rest together'),
    data: z.array(CostRowFields).describe('The most expensive groups'),
    rest: z
      .object({ groups: z.number().int().describe('How many they are'), ...CallSums, buckets: BucketList })
      .nullable()
      .describe('All other groups as one; null when there are none'),
    bucket_starts: z
      .array(Time)
      .describe('Every bucket that the window touches, empty ones too; the first may begin before it'),
    source: z.enum(['hourly', 'records']).describe('Where it was read; the numbers are the same, records take longer'),
    searched_to: SearchedTo,
  })
  .openapi('Costs');

export type CostsBody = z.infer<typeof CostsAnswer>;
export type CostRowBody = z.infer<typeof CostRowFields>;
export type CostBucketBody = z.infer<typeof CostBucketFields>;

function invalid(message: string): ApiError {
  return new ApiError(400, 'invalid_request', message);
}

/** Throws an ApiError for what nothing is grouped by. */
export function groupsOf(text: string): readonly CostGroup[] {
  try {
    return parseCostGroups(text);
  } catch (error) {
    throw error instanceof CostQueryError ? invalid(error.message) : error;
  }
}

function formatBuckets(buckets: readonly CostBucket[] | null): CostBucketBody[] | null {
  return buckets === null ? null : buckets.map((bucket) => ({ ...bucket, start: bucket.start.toISOString() }));
}

function formatCosts(costs: Costs, tz: string): CostsBody {
  const { rest } = costs;
  return {
    from: costs.from.toISOString(),
    to: costs.to.toISOString(),
    tz,
    interval: costs.interval,
    totals: costs.totals,
    data: costs.rows.map((row) => ({ ...row, group: [...row.group], buckets: formatBuckets(row.buckets) })),
    rest: rest === null ? null : { ...rest, buckets: formatBuckets(rest.buckets) },
    bucket_starts: costs.bucketStarts.map((start) => start.toISOString()),
    source: costs.source,
    searched_to: costs.searchedTo?.toISOString() ?? null,
  };
}

export const costsRoute = createRoute({
  method: 'get',
  path: '/api/v1/costs',
  summary: 'What calls cost, by group and time; equal to the sums over the records to the last digit',
  request: { query: CostsQuery },
  responses: { 200: jsonAnswer(CostsAnswer, 'Groups, the rest and the total, of one moment'), ...COMMON_ERRORS },
});

export function addCostRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(costsRoute, async (c) => {
    const { group_by, interval, tz, f, limit, wait_ms: waitMs, ...window } = c.req.valid('query');
    const groups = groupsOf(group_by);
    const filters = filtersOf(f);
    const from = toDate(window.from);
    const to = toDate(window.to);
    if (from !== null && to !== null && to < from) throw invalid('`to` is before `from`.');
    const pool = requireDatabase(deps);
    if (!(await isTimeZone(pool, tz)))
      throw invalid(`tz: ${JSON.stringify(tz)} is no time zone; write one such as Europe/Berlin or UTC.`);
    const query = { accountId: accountOf(c), groups, interval, from, to, timeZone: tz, filters, limit };
    try {
      return c.json(formatCosts(await listCosts(pool, query, deps.nowMs(), walkLimitsOf(waitMs)), tz), 200);
    } catch (error) {
      throw error instanceof CostQueryError ? invalid(error.message) : error;
    }
  });
}
