/** The sums, values and groups around the list of runs. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { countRunFacets } from '../log/count-run-facets.ts';
import { groupRunCalls, type RunGrouping } from '../log/group-run-calls.ts';
import { summariseRuns } from '../log/summarise-runs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { accountOf } from './principal.ts';
import { RunFacetsBody, RunGroupsBody, RunSummaryBody } from './run-bodies.ts';
import { COMMON_ERRORS, jsonAnswer, TimeParameter } from './schemas.ts';
import {
  IntervalParameter,
  RunFilterParameter,
  RunScopeQuery,
  RunSearchParameter,
  runScopeOf,
  WaitParameter,
  walkLimitsOf,
  windowOf,
} from './scope-parameters.ts';

const METADATA = 'metadata.';

const GroupQuery = z.strictObject({
  by: z
    .string()
    .max(1_024)
    .refine(
      (text) => ['model', 'provider', 'key'].includes(text) || (text.startsWith(METADATA) && text !== METADATA),
      'group by model, provider, key or metadata.Key',
    )
    .refine((text) => !text.includes('\0'), 'a key has no U+0000')
    .describe('`model`, `provider`, `key` or `metadata.Key`'),
  f: RunFilterParameter.describe('As of the list of runs, but a filter of calls is about each call that is summed'),
  q: RunSearchParameter,
  from: TimeParameter.optional().describe('Calls with `requested_at` at or after this time'),
  to: TimeParameter.optional().describe('Calls with `requested_at` before this time'),
  wait_ms: WaitParameter,
});

function groupingOf(by: string): RunGrouping {
  if (by === 'model' || by === 'provider' || by === 'key') return { by };
  return { by: 'metadata', key: by.slice(METADATA.length) };
}

export const runSummaryRoute = createRoute({
  method: 'get',
  path: '/api/v1/runs/summary',
  summary: 'Sums over the runs whose latest activity is in a time window: of whole runs, exact and of one moment',
  request: {
    query: RunScopeQuery.extend({
      from: TimeParameter.describe('`ended_at` at or after this time'),
      to: TimeParameter.describe('`ended_at` before this time'),
      interval: IntervalParameter,
      wait_ms: WaitParameter,
    }),
  },
  responses: { 200: jsonAnswer(RunSummaryBody, 'The sums'), ...COMMON_ERRORS },
});

export const runFacetsRoute = createRoute({
  method: 'get',
  path: '/api/v1/runs/facets',
  summary: 'Models, providers, keys and promoted metadata of runs, and in how many runs each value was used',
  request: { query: RunScopeQuery },
  responses: { 200: jsonAnswer(RunFacetsBody, 'The most frequent values of each'), ...COMMON_ERRORS },
});

export const runGroupsRoute = createRoute({
  method: 'get',
  path: '/api/v1/runs/groups',
  summary: 'The calls of runs in groups, with exact sums',
  request: { query: GroupQuery },
  responses: { 200: jsonAnswer(RunGroupsBody, 'The groups, most cost first'), ...COMMON_ERRORS },
});

export function addRunSumsRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(runSummaryRoute, async (c) => {
    const { interval, wait_ms: waitMs, ...query } = c.req.valid('query');
    const scope = runScopeOf(accountOf(c), query);
    const sums = await summariseRuns(
      requireDatabase(deps),
      scope,
      windowOf(scope),
      interval ?? null,
      walkLimitsOf(waitMs),
    );
    return c.json({ ...sums, buckets: [...sums.buckets] }, 200);
  });

  app.openapi(runFacetsRoute, async (c) => {
    const found = await countRunFacets(requireDatabase(deps), runScopeOf(accountOf(c), c.req.valid('query')));
    const data = found.data.map((facet) => ({ ...facet, values: [...facet.values] }));
    return c.json({ ...found, data }, 200);
  });

  app.openapi(runGroupsRoute, async (c) => {
    const { by, wait_ms: waitMs, ...scope } = c.req.valid('query');
    const query = runScopeOf(accountOf(c), scope);
    const limits = walkLimitsOf(waitMs);
    const found = await groupRunCalls(requireDatabase(deps), groupingOf(by), query, limits);
    const { groups, searchedTo, runsSearchedTo } = found;
    return c.json(
      {
        data: [...groups],
        searched_to: searchedTo?.toISOString() ?? null,
        runs_searched_to: runsSearchedTo?.toISOString() ?? null,
      },
      200,
    );
  });
}
