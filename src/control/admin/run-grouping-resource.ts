/** Requests making runs of stored calls by their agents' sessions, and taking such runs apart; dry first. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { GROUP_ACTIONS, requestGrouping } from '../log/group-runs-job.ts';
import { parseLogFilter, parseTime } from '../log/log-filter.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { accountOf } from './principal.ts';
import { COMMON_ERRORS, errorAnswer, jsonAnswer, TimeParameter } from './schemas.ts';

const MAX_FILTERS = 20;

const GroupingBody = z
  .strictObject({
    action: z
      .enum(GROUP_ACTIONS)
      .describe(
        '`group`: calls without a run whose client names a session join the run `<client>:<session>`; `ungroup`: what was grouped so is in no run again',
      ),
    from: TimeParameter.nullish().describe('`requested_at` at or after this time; null: since ever'),
    to: TimeParameter.nullish().describe('`requested_at` before this time; null: until now'),
    f: z
      .array(z.string().refine((text) => text.isWellFormed(), 'a filter has no half of a character'))
      .max(MAX_FILTERS)
      .default([])
      .describe('Filters as in the list of calls'),
    dry_run: z.boolean().default(true).describe('Only count calls and runs, and change nothing'),
  })
  .openapi('Grouping');

const StartedJobBody = z.object({
  job_id: z.number().int().describe('As in `GET /api/v1/jobs/{id}`, whose result has the counts'),
});

export const groupRunsRoute = createRoute({
  method: 'post',
  path: '/api/v1/runs/grouping',
  summary:
    'Make runs of stored calls by their agents’ sessions, or take such runs apart; a dry run unless told otherwise',
  request: { body: { required: true, content: { 'application/json': { schema: GroupingBody } } } },
  responses: {
    202: jsonAnswer(StartedJobBody, 'The job under way'),
    409: errorAnswer('Another one is under way; of dry runs, too, one at a time'),
    ...COMMON_ERRORS,
  },
});

export function addRunGroupingRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(groupRunsRoute, async (c) => {
    const { action, from, to, f, dry_run: isDryRun } = c.req.valid('json');
    const range = { from: readTime(from), to: readTime(to) };
    if (range.from !== null && range.to !== null && range.from >= range.to)
      throw new ApiError(400, 'invalid_request', 'to: must be later than `from`.');
    // Throws with a message for the caller.
    for (const filter of f) parseLogFilter(filter);
    const jobId = await requestGrouping(requireDatabase(deps), accountOf(c), {
      action,
      from: range.from?.toISOString() ?? null,
      to: range.to?.toISOString() ?? null,
      filters: f,
      dry_run: isDryRun,
    });
    if (jobId === null)
      throw new ApiError(409, 'job_running', 'Runs are being grouped already; wait for that job, or cancel it.');
    return c.json({ job_id: jobId }, 202);
  });
}

function readTime(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : parseTime(text);
}
