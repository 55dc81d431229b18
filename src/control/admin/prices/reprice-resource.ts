/** Requests pricing calls again, dry first, and shows the outcome by day and model. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { readJob } from '../../jobs/job-store.ts';
import { parseLogFilter, parseTime } from '../../log/log-filter.ts';
import { listDays, readDayTotals } from '../../prices/reprice/day-sums.ts';
import {
  REPRICE_KIND,
  REPRICE_SCOPES,
  type RepriceInput,
  requestRepricing,
} from '../../prices/reprice/reprice-request.ts';
import { type AdminDeps, requireDatabase } from '../admin-deps.ts';
import { ApiError } from '../api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from '../cursor.ts';
import { accountOf } from '../principal.ts';
import { readActor } from '../read-actor.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  errorAnswer,
  jsonAnswer,
  limitParameter,
  Money,
  TimeParameter,
} from '../schemas.ts';

const MAX_FILTERS = 20;
const MAX_REASON_CHARACTERS = 500;

/** PostgreSQL can store it, also in JSON. */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const RepriceBody = z
  .strictObject({
    from: TimeParameter.nullish().describe('`requested_at` at or after this time; null: since ever'),
    to: TimeParameter.nullish().describe('`requested_at` before this time; null: until now'),
    f: z
      .array(z.string().refine((text) => text.isWellFormed(), 'a filter has no half of a character'))
      .max(MAX_FILTERS)
      .default([])
      .describe('Filters as in the list of calls'),
    model: z
      .string()
      .min(1)
      .refine(isStorable, 'a model has neither U+0000 nor half of a character')
      .nullish()
      .describe('Only calls of this model: that served, else that was requested'),
    only: z
      .enum(REPRICE_SCOPES)
      .default('unpriced')
      .describe('`unpriced`: calls without a total cost, `unpriced` and `partial`; `all`: every call that has a price'),
    reason: z
      .string()
      .max(MAX_REASON_CHARACTERS)
      .refine(isStorable, 'a reason has neither U+0000 nor half of a character')
      .optional()
      .describe('Why; stands in every revision. Required unless `dry_run`'),
    dry_run: z.boolean().default(true).describe('Only work out the difference, and change nothing'),
  })
  .openapi('Reprice');

const StartedJobBody = z.object({ job_id: z.number().int().describe('As in `GET /api/v1/jobs/{id}`') });

const SUMS = {
  calls: z.number().int().describe('Calls that were priced again'),
  changed: z.number().int().describe('Those whose cost, status or billed model is another'),
  old_cost: Money,
  new_cost: Money,
  old_unpriced: z.number().int().describe('Calls without a total cost before; of them the known part is in the sum'),
  new_unpriced: z.number().int().describe('Calls without a total cost after'),
} as const;

const RepriceDayBody = z
  .object({
    day: z.string().describe('Day (UTC) of the calls'),
    provider: z.string(),
    model: z.string().describe('That served, else that was requested; empty when neither is known'),
    ...SUMS,
  })
  .openapi('RepriceDay');
export type RepriceDayBody = z.infer<typeof RepriceDayBody>;

const RepriceDaysBody = z.object({
  data: z.array(RepriceDayBody).describe('By day, provider and model'),
  next_cursor: z.string().nullable().describe('Give it as `cursor` to read on; null on the last page'),
  totals: z.object(SUMS).describe('Over all pages; while the job is under way, of what it has done'),
});
export type RepriceDaysBody = z.infer<typeof RepriceDaysBody>;

const JobParameter = z.object({ job_id: z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER) });
const DaysQuery = z.strictObject({ cursor: CursorParameter, limit: limitParameter(5_000, 1_000) });
const DayPosition = z
  .tuple([z.iso.date(), z.string(), z.string()])
  .transform(([day, provider, model]) => ({ day, provider, model }));

/** Normalised and checked, so that the job cannot fail on it. */
function toInput(body: z.infer<typeof RepriceBody>, askedBy: string): RepriceInput {
  const from = readTime(body.from);
  const to = readTime(body.to);
  if (from !== null && to !== null && from >= to)
    throw new ApiError(400, 'invalid_request', 'to: must be later than `from`.');
  // Throws with a message for the caller.
  for (const filter of body.f) parseLogFilter(filter);
  const reason = body.reason?.trim() ?? '';
  if (!body.dry_run && reason === '')
    throw new ApiError(400, 'invalid_request', 'reason: say why, it stands in the history of every call that changes.');
  return {
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    filters: body.f,
    model: body.model ?? null,
    only: body.only,
    reason,
    asked_by: askedBy,
    dry_run: body.dry_run,
  };
}

function readTime(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : parseTime(text);
}

export const repriceRoute = createRoute({
  method: 'post',
  path: '/api/v1/reprice',
  summary: 'Price calls again with the prices of now, each at its own time; a dry run unless told otherwise',
  request: { body: { required: true, content: { 'application/json': { schema: RepriceBody } } } },
  responses: {
    202: jsonAnswer(StartedJobBody, 'The job under way'),
    409: errorAnswer('Calls are being priced again; of dry runs, too, one at a time is under way'),
    ...COMMON_ERRORS,
  },
});

export const repriceDaysRoute = createRoute({
  method: 'get',
  path: '/api/v1/reprice/{job_id}/days',
  summary: 'What a re-pricing changed, or would change, by day and model',
  request: { params: JobParameter, query: DaysQuery },
  responses: {
    200: jsonAnswer(RepriceDaysBody, 'A page of days and models'),
    404: errorAnswer('No such job, or one of another kind'),
    ...COMMON_ERRORS,
  },
});

export function addRepriceRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(repriceRoute, async (c) => {
    const input = toInput(c.req.valid('json'), readActor(c));
    const request = await requestRepricing(requireDatabase(deps), accountOf(c), input);
    if (request.type === 'busy')
      throw new ApiError(
        409,
        'job_running',
        `Another ${input.dry_run ? 'dry run' : 're-pricing'} is under way; wait for it, or cancel that job.`,
      );
    return c.json({ job_id: request.jobId }, 202);
  });

  app.openapi(repriceDaysRoute, async (c) => {
    const pool = requireDatabase(deps);
    const { job_id: jobId } = c.req.valid('param');
    const { cursor, limit } = c.req.valid('query');
    const job = await readJob(pool, accountOf(c), jobId);
    if (job?.kind !== REPRICE_KIND)
      throw new ApiError(404, 'job_not_found', 'There is no re-pricing with this job id.');
    const question = hashQuestion(['reprice_days', jobId]);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, DayPosition);
    const found = await listDays(pool, jobId, after, limit + 1);
    const page = found.slice(0, limit);
    const last = found.length > limit ? page.at(-1) : undefined;
    return c.json(
      {
        data: page,
        next_cursor: last === undefined ? null : encodeCursor(question, [last.day, last.provider, last.model]),
        totals: await readDayTotals(pool, jobId),
      },
      200,
    );
  });
}
