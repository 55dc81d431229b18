/** The sums and values around the list of calls. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import { countLogFacets } from '../log/count-log-facets.ts';
import { summariseLogs } from '../log/summarise-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { LogFacetsBody, LogSummaryBody } from './log-bodies.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, jsonAnswer, TimeParameter } from './schemas.ts';
import {
  IntervalParameter,
  LogScopeQuery,
  logScopeOf,
  WaitParameter,
  walkLimitsOf,
  windowOf,
} from './scope-parameters.ts';

export const logSummaryRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/summary',
  summary: 'Sums over the calls of a time window and over its parts, of one moment; sums are exact',
  request: {
    query: LogScopeQuery.extend({
      from: TimeParameter.describe('`requested_at` at or after this time'),
      to: TimeParameter.describe('`requested_at` before this time'),
      interval: IntervalParameter,
      wait_ms: WaitParameter,
    }),
  },
  responses: { 200: jsonAnswer(LogSummaryBody, 'The sums'), ...COMMON_ERRORS },
});

export const logFacetsRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/facets',
  summary: 'The values that occur in the newest matching calls, and how often',
  request: { query: LogScopeQuery },
  responses: { 200: jsonAnswer(LogFacetsBody, 'The most frequent values of each column'), ...COMMON_ERRORS },
});

/** Must precede the routes of one call, whose path would match. */
export function addLogSumsRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(logSummaryRoute, async (c) => {
    const { interval, wait_ms: waitMs, ...query } = c.req.valid('query');
    const scope = logScopeOf(accountOf(c), query);
    const sums = await summariseLogs(
      requireDatabase(deps),
      scope,
      windowOf(scope),
      interval ?? null,
      walkLimitsOf(waitMs),
    );
    return c.json({ ...sums, buckets: [...sums.buckets] }, 200);
  });

  app.openapi(logFacetsRoute, async (c) => {
    const found = await countLogFacets(requireDatabase(deps), logScopeOf(accountOf(c), c.req.valid('query')));
    return c.json({ ...found, data: found.data.map((facet) => ({ ...facet, values: [...facet.values] })) }, 200);
  });
}
