/** The log over HTTP: pages with filters, and one call. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { isUuid } from '../../vocabulary/uuid.ts';
import { listLogs } from '../log/list-logs.ts';
import { listOpenLogs } from '../log/list-open-logs.ts';
import { LOG_SORTS } from '../log/log-order.ts';
import { readLog } from '../log/read-log.ts';
import { isLogColumn, LOG_COLUMN_NAMES, type LogColumn } from '../store/log-columns.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import { LogDetailBody, LogPageBody, OpenLogsBody } from './log-bodies.ts';
import { accountOf, principalOf } from './principal.ts';
import { COMMON_ERRORS, CursorParameter, errorAnswer, jsonAnswer, limitParameter } from './schemas.ts';
import { LogScopeQuery, logScopeOf } from './scope-parameters.ts';

const MAX_FIELDS_CHARS = 2_048;

const FieldsParameter = z
  .string()
  .max(MAX_FIELDS_CHARS)
  .optional()
  .describe(
    'Columns of the rows, with commas; by default all. `snippet` and `matches`, which are none of them, have to be named: the first lines of what was asked and answered, of calls that have ended; and where `q` was found',
  );

const ListQuery = LogScopeQuery.extend({
  sort: z
    .enum(LOG_SORTS)
    .default('-requested_at')
    .describe('A minus in front: the newest or the most first. What has no value counts as less than zero'),
  fields: FieldsParameter,
  cursor: CursorParameter,
  limit: limitParameter(500, 50),
});

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

/** Stand beside the columns in `fields`: they are read for the page alone. */
const SNIPPET = 'snippet';
const MATCHES = 'matches';

function columnsOf(fields: string | undefined): readonly LogColumn[] {
  if (fields === undefined) return LOG_COLUMN_NAMES;
  return fields.split(',').flatMap((name) => {
    if (isLogColumn(name)) return [name];
    if (name === SNIPPET || name === MATCHES) return [];
    throw new ApiError(400, 'invalid_request', `fields: there is no column ${JSON.stringify(name.slice(0, 100))}.`);
  });
}

export const logsRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs',
  summary: 'Calls, newest first; every call that exists when paging begins comes exactly once',
  request: { query: ListQuery },
  responses: { 200: jsonAnswer(LogPageBody, 'A page of calls'), ...COMMON_ERRORS },
});

function addListRoute(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(logsRoute, async (c) => {
    const { cursor, limit, sort, fields, ...scope } = c.req.valid('query');
    const wantsSnippets = fields?.split(',').includes(SNIPPET) === true;
    const hasSnippets = wantsSnippets && deps.keepsTexts() && principalOf(c).mayReadBodies;
    const hasMatches = fields?.split(',').includes(MATCHES) === true;
    const query = { ...logScopeOf(accountOf(c), scope), sort, columns: columnsOf(fields), hasSnippets, hasMatches };
    const question = hashQuestion(query);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, SortedPositionBody);
    const page = await listLogs(requireDatabase(deps), query, after, limit);
    const { next } = page;
    const nextCursor = next === null ? null : encodeCursor(question, [next.requestedAt, next.id, next.value]);
    const data = wantsSnippets && !hasSnippets ? page.records.map((one) => ({ ...one, snippet: null })) : page.records;
    const rows = data.map(({ matches, ...record }) =>
      matches === undefined ? record : { ...record, matches: [...matches] },
    );
    return c.json({ data: rows, next_cursor: nextCursor, searched_to: page.searchedTo }, 200);
  });
}

export const openLogsRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/open',
  summary: 'Calls that have not ended, the newest first',
  request: { query: LogScopeQuery.extend({ fields: FieldsParameter, limit: limitParameter(500, 50) }) },
  responses: { 200: jsonAnswer(OpenLogsBody, 'The open calls'), ...COMMON_ERRORS },
});

/** Must precede the route of one call, whose path would match. */
function addOpenRoute(app: OpenAPIHono, deps: AdminDeps): void {
  app.openapi(openLogsRoute, async (c) => {
    const { limit, fields, ...scope } = c.req.valid('query');
    const query = logScopeOf(accountOf(c), scope);
    const { records, total } = await listOpenLogs(requireDatabase(deps), query, columnsOf(fields), limit);
    return c.json({ data: [...records], total }, 200);
  });
}

export const logRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/{id}',
  summary: 'One call, ended or open',
  request: { params: IdParameter },
  responses: {
    200: jsonAnswer(LogDetailBody, 'The call'),
    404: errorAnswer('No such call'),
    ...COMMON_ERRORS,
  },
});

export function addLogRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  addListRoute(app, deps);
  addOpenRoute(app, deps);
  app.openapi(logRoute, async (c) => {
    const record = await readLog(requireDatabase(deps), accountOf(c), c.req.valid('param').id);
    if (record === null) throw LOG_NOT_FOUND;
    return c.json({ ...record }, 200);
  });
}
