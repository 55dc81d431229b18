/** What stands around the list of calls: their sums over time, and the values that occur. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import { countLogFacets } from '../runs/count-log-facets.ts';
import { summariseLogs } from '../runs/summarise-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { LogFacetsBody, LogSummaryBody } from './log-bodies.ts';
import { COMMON_ERRORS, jsonAnswer, TimeParameter } from './schemas.ts';
import { IntervalParameter, LogScopeQuery, logScopeOf, windowOf } from './scope-parameters.ts';

/** Before the routes of one call, whose path these would fit. */
export function addLogSumsRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const summary = createRoute({
    method: 'get',
    path: '/api/v1/logs/summary',
    summary: 'Sums over the calls of a time window and over its parts, of one moment and exact',
    request: {
      query: LogScopeQuery.extend({
        from: TimeParameter.describe('`requested_at` at or after this time'),
        to: TimeParameter.describe('`requested_at` before this time'),
        interval: IntervalParameter,
      }),
    },
    responses: { 200: jsonAnswer(LogSummaryBody, 'The sums'), ...COMMON_ERRORS },
  });
  app.openapi(summary, async (c) => {
    const { interval, ...query } = c.req.valid('query');
    const scope = logScopeOf(deps.accountId, query);
    const sums = await summariseLogs(requireDatabase(deps), scope, windowOf(scope), interval ?? null);
    return c.json({ ...sums, buckets: [...sums.buckets] }, 200);
  });

  const facets = createRoute({
    method: 'get',
    path: '/api/v1/logs/facets',
    summary: 'The values that occur in the newest matching calls, and how often',
    request: { query: LogScopeQuery },
    responses: { 200: jsonAnswer(LogFacetsBody, 'The most frequent values of each column'), ...COMMON_ERRORS },
  });
  app.openapi(facets, async (c) => {
    const found = await countLogFacets(requireDatabase(deps), logScopeOf(deps.accountId, c.req.valid('query')));
    return c.json({ ...found, data: found.data.map((facet) => ({ ...facet, values: [...facet.values] })) }, 200);
  });
}
