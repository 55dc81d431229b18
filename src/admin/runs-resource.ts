/** Runs over HTTP: pages of runs, one run with its steps, its leaves. A trace id is a query value: it may hold slashes. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listRunCalls } from '../runs/list-run-calls.ts';
import { listRuns } from '../runs/list-runs.ts';
import { readRun } from '../runs/read-run.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import { LogPositionBody } from './logs-resource.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  errorAnswer,
  jsonAnswer,
  LogRecordBody,
  limitParameter,
  listOf,
  Money,
  Time,
  TimeParameter,
  Tokens,
  TraceIdParameter,
  toDate,
} from './schemas.ts';

const TokenSums = {
  input_tokens: Tokens.describe('Uncached input; what was not reported adds nothing'),
  cache_read_input_tokens: Tokens,
  cache_creation_input_tokens: Tokens,
  output_tokens: Tokens,
  reasoning_tokens: Tokens.describe('A part of output_tokens'),
} as const;

const RunFields = {
  trace_id: z.string(),
  calls: z.number().int(),
  open_calls: z.number().int().describe('Calls that have not ended yet; in no sum'),
  errors: z.number().int().describe('Calls whose outcome is neither ok nor client_closed'),
  total_cost: Money,
  unpriced_calls: z.number().int().describe('Calls without a total: while there are any, total_cost means "at least"'),
  ...TokenSums,
  started_at: Time.describe('Earliest requested_at'),
  ended_at: Time.describe('Latest responded_at'),
  duration_ms: z.number().int(),
  cut_at: Time.nullable().describe(
    'When retention last dropped calls of the run, null if never: sums are of the calls that are left, or of all it had when none is',
  ),
} as const;

const RunBody = z.object(RunFields).openapi('Run');

const StepBody = z
  .object({
    span_key: z.string().describe('Canonical path: names encoded and joined with "/"'),
    names: z.array(z.string()).describe('Decoded names, outermost first'),
    calls: z.number().int().describe('Calls in this step and beneath'),
    own_calls: z.number().int().describe('Calls made directly in this step'),
    errors: z.number().int(),
    total_cost: Money.describe('Of all calls beneath'),
    own_cost: Money.describe('Of the calls made directly in this step'),
    unpriced_calls: z.number().int(),
    ...TokenSums,
    started_at: Time,
    ended_at: Time,
  })
  .openapi('Step');

const RunWithSteps = z
  .object({
    ...RunFields,
    steps: z.array(StepBody).describe('Every step, by first start; the root is the run itself'),
    steps_cut: z.boolean().describe('There are more than 20,000 steps, and these are the earliest'),
  })
  .openapi('RunWithSteps');

const ListQuery = z.strictObject({
  from: TimeParameter.optional().describe('`ended_at` at or after this time'),
  to: TimeParameter.optional().describe('`ended_at` before this time'),
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

const RunPositionBody = z
  .tuple([z.string().regex(/^\d{1,20}:\d{1,20}:[\d,]*$/), z.iso.datetime(), z.string()])
  .transform(([snapshot, time, traceId]) => ({ snapshot, endedAt: new Date(time), traceId }));

const NOT_FOUND = new ApiError(404, 'run_not_found', 'There is no call with this trace id.');

function addListRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: '/api/v1/runs',
    summary: 'Runs, latest activity first; every run that exists when paging begins comes exactly once',
    request: { query: ListQuery },
    responses: { 200: jsonAnswer(listOf(RunBody), 'A page of runs'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const { from, to, cursor, limit } = c.req.valid('query');
    const query = { accountId: deps.accountId, from: toDate(from), to: toDate(to) };
    const question = hashQuestion(query);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, RunPositionBody);
    const { runs, next } = await listRuns(requireDatabase(deps), query, after, limit);
    const nextCursor = next === null ? null : encodeCursor(question, [next.snapshot, next.endedAt, next.traceId]);
    return c.json({ data: z.array(RunBody).parse(runs), next_cursor: nextCursor }, 200);
  });
}

export function addRunRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addListRoute(app, deps);

  const one = createRoute({
    method: 'get',
    path: '/api/v1/run',
    summary: 'One run with its steps',
    request: { query: z.strictObject({ trace_id: TraceIdParameter }) },
    responses: {
      200: jsonAnswer(RunWithSteps, 'The run; its sums and those of the steps are of one moment'),
      404: errorAnswer('No such run'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(one, async (c) => {
    const run = await readRun(requireDatabase(deps), deps.accountId, c.req.valid('query').trace_id);
    if (run === null) throw NOT_FOUND;
    return c.json(RunWithSteps.parse(run), 200);
  });

  const calls = createRoute({
    method: 'get',
    path: '/api/v1/run/calls',
    summary: 'The calls of a run in time order, without their longest columns',
    request: {
      query: z.strictObject({
        trace_id: TraceIdParameter,
        cursor: CursorParameter,
        limit: limitParameter(20_000, 1_000),
      }),
    },
    responses: { 200: jsonAnswer(listOf(LogRecordBody), 'A page of calls; none for an unknown run'), ...COMMON_ERRORS },
  });
  app.openapi(calls, async (c) => {
    const { trace_id, cursor, limit } = c.req.valid('query');
    const question = hashQuestion(['calls', trace_id]);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, LogPositionBody);
    const page = await listRunCalls(requireDatabase(deps), deps.accountId, trace_id, after, limit);
    const next = page.next === null ? null : encodeCursor(question, [page.next.requestedAt, page.next.id]);
    return c.json({ data: [...page.records], next_cursor: next }, 200);
  });
}
