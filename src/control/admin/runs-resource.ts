/** Runs over HTTP: pages, and one run with its steps. A trace id is a query value, since it may contain slashes. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { describeRuns } from '../log/describe-runs.ts';
import { isTimeSort, listRuns, RUN_SORTS, type RunSort } from '../log/list-runs.ts';
import { readRun } from '../log/read-run.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import { accountOf } from './principal.ts';
import { RunBody, RunWithStepsBody } from './run-bodies.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  errorAnswer,
  jsonAnswer,
  limitParameter,
  searchedListOf,
  TraceIdParameter,
} from './schemas.ts';
import { RunScopeQuery, runScopeOf } from './scope-parameters.ts';

const ListQuery = RunScopeQuery.extend({
  sort: z.enum(RUN_SORTS).default('-ended_at').describe('A minus in front: the latest or the most first'),
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

const SNAPSHOT = /^\d{1,20}:\d{1,20}:[\d,]*$/;
const NUMBER = /^-?\d{1,18}(?:\.\d{1,18})?$/;
/** As PostgreSQL prints it, or as we do. */
const TIME = /^\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}(?::\d{2}){0,2})$/;

function positionBody(sort: RunSort) {
  return z
    .tuple([z.string().regex(SNAPSHOT).nullable(), z.string().regex(isTimeSort(sort) ? TIME : NUMBER), z.string()])
    .transform(([snapshot, place, traceId]) => ({ snapshot, place, traceId }));
}

const NOT_FOUND = new ApiError(404, 'run_not_found', 'There is no call with this trace id.');

export const runsRoute = createRoute({
  method: 'get',
  path: '/api/v1/runs',
  summary: 'Runs, latest activity first; every run that exists when paging begins comes exactly once in this order',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(searchedListOf(RunBody), 'A page of runs'), ...COMMON_ERRORS },
});

function addListRoute(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(runsRoute, async (c) => {
    const { cursor, limit, sort, ...scope } = c.req.valid('query');
    const query = { ...runScopeOf(accountOf(c), scope), sort };
    const question = hashQuestion(query);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, positionBody(sort));
    const pool = requireDatabase(deps);
    const { runs, next, searchedTo } = await listRuns(pool, query, after, limit);
    const described = await describeRuns(pool, accountOf(c), runs);
    const nextCursor = next === null ? null : encodeCursor(question, [next.snapshot, next.place, next.traceId]);
    return c.json({ data: described, next_cursor: nextCursor, searched_to: searchedTo }, 200);
  });
}

export const runRoute = createRoute({
  method: 'get',
  path: '/api/v1/run',
  summary: 'One run with its steps',
  request: { query: z.strictObject({ trace_id: TraceIdParameter }) },
  responses: {
    200: jsonAnswer(RunWithStepsBody, 'The run; its sums and those of the steps are of one moment'),
    404: errorAnswer('No such run'),
    ...COMMON_ERRORS,
  },
});

export function addRunRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addListRoute(app, deps);
  app.openapi(runRoute, async (c) => {
    const run = await readRun(requireDatabase(deps), accountOf(c), c.req.valid('query').trace_id);
    if (run === null) throw NOT_FOUND;
    return c.json(run, 200);
  });
}
