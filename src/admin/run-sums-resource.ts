/** What stands around the list of runs: their sums over time, the values they used, and their calls in groups. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { countRunFacets } from '../runs/count-run-facets.ts';
import { groupRunCalls, type RunGrouping } from '../runs/group-run-calls.ts';
import { parseRunFilters } from '../runs/run-filter.ts';
import { summariseRuns } from '../runs/summarise-runs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { RunFacetsBody, RunGroupsBody, RunSummaryBody } from './run-bodies.ts';
import { COMMON_ERRORS, jsonAnswer, TimeParameter, toDate } from './schemas.ts';
import {
  IntervalParameter,
  RunFilterParameter,
  RunScopeQuery,
  runScopeOf,
  textsOf,
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
  from: TimeParameter.optional().describe('Calls with `requested_at` at or after this time'),
  to: TimeParameter.optional().describe('Calls with `requested_at` before this time'),
});

function groupingOf(by: string): RunGrouping {
  if (by === 'model' || by === 'provider' || by === 'key') return { by };
  return { by: 'metadata', key: by.slice(METADATA.length) };
}

export function addRunSumsRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const summary = createRoute({
    method: 'get',
    path: '/api/v1/runs/summary',
    summary: 'Sums over the runs whose latest activity is in a time window: of whole runs, of one moment and exact',
    request: {
      query: RunScopeQuery.extend({
        from: TimeParameter.describe('`ended_at` at or after this time'),
        to: TimeParameter.describe('`ended_at` before this time'),
        interval: IntervalParameter,
      }),
    },
    responses: { 200: jsonAnswer(RunSummaryBody, 'The sums'), ...COMMON_ERRORS },
  });
  app.openapi(summary, async (c) => {
    const { interval, ...query } = c.req.valid('query');
    const scope = runScopeOf(deps.accountId, query);
    const sums = await summariseRuns(requireDatabase(deps), scope, windowOf(scope), interval ?? null);
    return c.json({ ...sums, buckets: [...sums.buckets] }, 200);
  });

  const facets = createRoute({
    method: 'get',
    path: '/api/v1/runs/facets',
    summary: 'Models, providers, keys and promoted metadata of runs, and in how many runs each value was used',
    request: { query: RunScopeQuery },
    responses: { 200: jsonAnswer(RunFacetsBody, 'The most frequent values of each'), ...COMMON_ERRORS },
  });
  app.openapi(facets, async (c) => {
    const found = await countRunFacets(requireDatabase(deps), runScopeOf(deps.accountId, c.req.valid('query')));
    return c.json({ data: found.data.map((facet) => ({ ...facet, values: [...facet.values] })) }, 200);
  });

  const groups = createRoute({
    method: 'get',
    path: '/api/v1/runs/groups',
    summary: 'The calls of runs in groups, with exact sums',
    request: { query: GroupQuery },
    responses: { 200: jsonAnswer(RunGroupsBody, 'The groups, most cost first'), ...COMMON_ERRORS },
  });
  app.openapi(groups, async (c) => {
    const { by, f, from, to } = c.req.valid('query');
    const groups = await groupRunCalls(requireDatabase(deps), groupingOf(by), {
      accountId: deps.accountId,
      ...parseRunFilters(textsOf(f)),
      from: toDate(from),
      to: toDate(to),
    });
    return c.json({ data: [...groups] }, 200);
  });
}
