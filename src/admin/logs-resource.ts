/** The log over HTTP: pages with filters, one call, its raw bodies. The live tail is in `log-stream.ts`. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type LogQuery, listLogs } from '../runs/list-logs.ts';
import { isUuid, parseLogFilter } from '../runs/log-filter.ts';
import { readBody } from '../runs/read-body.ts';
import { readLog } from '../runs/read-log.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  errorAnswer,
  FilterParameter,
  jsonAnswer,
  LogRecordBody,
  limitParameter,
  listOf,
  TimeParameter,
  toDate,
} from './schemas.ts';

export const FilterQuery = z.strictObject({
  f: FilterParameter,
  exclude_runs: z.enum(['true', 'false']).default('false').describe('`true` leaves out the calls that belong to runs'),
});

const ListQuery = FilterQuery.extend({
  from: TimeParameter.optional().describe('`requested_at` at or after this time'),
  to: TimeParameter.optional().describe('`requested_at` before this time'),
  sort: z.enum(['-requested_at', 'requested_at']).default('-requested_at').describe('Newest or oldest first'),
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

/** Where a page of calls ended, in a cursor. */
export const LogPositionBody = z
  .tuple([z.iso.datetime(), z.uuid()])
  .transform(([time, id]) => ({ requestedAt: new Date(time), id }));

export function filtersOf(f: string | readonly string[] | undefined) {
  return (f === undefined ? [] : typeof f === 'string' ? [f] : f).map(parseLogFilter);
}

const IdParameter = z.object({
  id: z
    .string()
    .refine(isUuid, 'an id is a UUID')
    .describe('Id of the call; the gateway also answers it as X-Gateway-Request-Id'),
});

const NOT_FOUND = new ApiError(404, 'log_not_found', 'There is no call with this id.');

function queryOf(deps: AdminDeps, query: z.infer<typeof ListQuery>): LogQuery {
  return {
    accountId: deps.accountId,
    filters: filtersOf(query.f),
    from: toDate(query.from),
    to: toDate(query.to),
    excludeRuns: query.exclude_runs === 'true',
    order: query.sort === 'requested_at' ? 'oldest_first' : 'newest_first',
  };
}

function addListRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const list = createRoute({
    method: 'get',
    path: '/api/v1/logs',
    summary: 'Calls, newest first; every call that exists when paging begins comes exactly once',
    request: { query: ListQuery },
    responses: { 200: jsonAnswer(listOf(LogRecordBody), 'A page of calls'), ...COMMON_ERRORS },
  });
  app.openapi(list, async (c) => {
    const parameters = c.req.valid('query');
    const query = queryOf(deps, parameters);
    const question = hashQuestion(query);
    const after = parameters.cursor === undefined ? null : decodeCursor(parameters.cursor, question, LogPositionBody);
    const page = await listLogs(requireDatabase(deps), query, after, parameters.limit);
    const next = page.next === null ? null : encodeCursor(question, [page.next.requestedAt, page.next.id]);
    return c.json({ data: [...page.records], next_cursor: next }, 200);
  });
}

function addBodyRoute(app: OpenAPIHono, deps: AdminDeps, direction: 'request' | 'response'): void {
  const body = createRoute({
    method: 'get',
    path: `/api/v1/logs/{id}/${direction}`,
    summary: `The raw body of the ${direction} as it went over the wire, content encoding included`,
    request: { params: IdParameter },
    responses: {
      200: {
        description:
          'The bytes as they are. `bodies` of the call says type, encoding and whether the middle was cut out; whatever the type is, they are served as plain text to be saved',
        content: { 'text/plain': { schema: z.string() } },
      },
      404: errorAnswer('No such call, or its body was not kept'),
      ...COMMON_ERRORS,
    },
  });
  // Bytes are no text, which the typed handler of a text answer would want: so the path is documented and served apart.
  app.openAPIRegistry.registerPath(body);
  app.get(`/api/v1/logs/:id/${direction}`, async (c) => {
    const id = c.req.param('id');
    if (!isUuid(id)) throw NOT_FOUND;
    const bytes = await readBody(requireDatabase(deps), deps.accountId, id, direction);
    if (bytes === null)
      throw new ApiError(
        404,
        'body_not_found',
        'There is no such call, or this body was not kept (setting, key or retention).',
      );
    return c.body(new Uint8Array(bytes), 200, {
      'content-type': 'text/plain; charset=utf-8',
      'content-disposition': `attachment; filename="${id}-${direction}.txt"`,
    });
  });
}

export function addLogRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addListRoute(app, deps);
  const one = createRoute({
    method: 'get',
    path: '/api/v1/logs/{id}',
    summary: 'One call, ended or open',
    request: { params: IdParameter },
    responses: {
      200: jsonAnswer(
        LogRecordBody,
        'The call, with `state` (`ended` or `open`), the `headers` that were kept, and `bodies`: what was kept of them',
      ),
      404: errorAnswer('No such call'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(one, async (c) => {
    const record = await readLog(requireDatabase(deps), deps.accountId, c.req.valid('param').id);
    if (record === null) throw NOT_FOUND;
    return c.json({ ...record }, 200);
  });
  addBodyRoute(app, deps, 'request');
  addBodyRoute(app, deps, 'response');
}
