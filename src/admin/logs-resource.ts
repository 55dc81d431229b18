/** The log over HTTP: pages with filters, and one call. Bodies, sums and the live tail are in files of their own. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { LOG_SORTS, listLogs } from '../runs/list-logs.ts';
import { isLogColumn, type LogColumn } from '../runs/log-columns.ts';
import { isUuid } from '../runs/log-filter.ts';
import { LOG_COLUMN_NAMES } from '../runs/log-record.ts';
import { readLog } from '../runs/read-log.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import {
  COMMON_ERRORS,
  CursorParameter,
  errorAnswer,
  jsonAnswer,
  LogRecordBody,
  limitParameter,
  listOf,
} from './schemas.ts';
import { LogScopeQuery, logScopeOf } from './scope-parameters.ts';

const MAX_FIELDS_CHARS = 2_048;

const ListQuery = LogScopeQuery.extend({
  sort: z
    .enum(LOG_SORTS)
    .default('-requested_at')
    .describe('A minus in front: the newest or the most first. What has no value counts as less than zero'),
  fields: z.string().max(MAX_FIELDS_CHARS).optional().describe('Columns of the rows, with commas; all by default'),
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

/** Where a page of calls in time order ended, in a cursor. */
export const LogPositionBody = z
  .tuple([z.iso.datetime(), z.uuid()])
  .transform(([time, id]) => ({ requestedAt: new Date(time), id }));

const SortedPositionBody = z
  .tuple([
    z.iso.datetime(),
    z.uuid(),
    z
      .string()
      .regex(/^-?\d{1,18}(?:\.\d{1,18})?$/)
      .nullable(),
  ])
  .transform(([time, id, value]) => ({ requestedAt: new Date(time), id, value }));

export const IdParameter = z.object({
  id: z
    .string()
    .refine(isUuid, 'an id is a UUID')
    .describe('Id of the call; the gateway also answers it as X-Gateway-Request-Id'),
});

export const LOG_NOT_FOUND = new ApiError(404, 'log_not_found', 'There is no call with this id.');

/** All by default, in the order asked for. */
function columnsOf(fields: string | undefined): readonly LogColumn[] {
  if (fields === undefined) return LOG_COLUMN_NAMES;
  return fields.split(',').map((name) => {
    if (isLogColumn(name)) return name;
    throw new ApiError(400, 'invalid_request', `fields: there is no column ${JSON.stringify(name.slice(0, 100))}.`);
  });
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
    const { cursor, limit, sort, fields, ...scope } = c.req.valid('query');
    const query = { ...logScopeOf(deps.accountId, scope), sort, columns: columnsOf(fields) };
    const question = hashQuestion(query);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, SortedPositionBody);
    const page = await listLogs(requireDatabase(deps), query, after, limit);
    const { next } = page;
    const nextCursor = next === null ? null : encodeCursor(question, [next.requestedAt, next.id, next.value]);
    return c.json({ data: [...page.records], next_cursor: nextCursor }, 200);
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
        'The call, with `state` (`ended` or `open`), the `headers` that were kept, `bodies`: what was kept of them, and `previous_id` and `next_id` of its run',
      ),
      404: errorAnswer('No such call'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(one, async (c) => {
    const record = await readLog(requireDatabase(deps), deps.accountId, c.req.valid('param').id);
    if (record === null) throw LOG_NOT_FOUND;
    return c.json({ ...record }, 200);
  });
}
