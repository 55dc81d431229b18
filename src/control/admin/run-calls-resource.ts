/** The calls of a run over HTTP in time order, as rows or column by column. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listOpenCalls } from '../log/list-open-calls.ts';
import { listRunCalls } from '../log/list-run-calls.ts';
import type { LogPosition } from '../log/log-order.ts';
import { listRunCallColumns } from '../log/run-call-columns.ts';
import { formatTailPosition, readTailEnd } from '../log/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { decodeCursor, encodeCursor, hashQuestion } from './cursor.ts';
import { LogPageBody } from './log-bodies.ts';
import { LogPositionBody } from './logs-resource.ts';
import { parseQuery } from './parse-query.ts';
import { accountOf } from './principal.ts';
import { RunCallsBody } from './run-call-bodies.ts';
import { COMMON_ERRORS, CursorParameter, jsonAnswer, limitParameter, TraceIdParameter } from './schemas.ts';

const CallsQuery = z.strictObject({
  trace_id: TraceIdParameter,
  columns: z.enum(['true', 'false']).default('false').describe('`true`: an array for each column instead of rows'),
  cursor: CursorParameter,
  limit: limitParameter(20_000, 1_000),
});

/** Returns a `RunCallsBody` as JSON. */
async function readColumns(
  deps: AdminDeps,
  accountId: number,
  traceId: string,
  after: LogPosition | null,
  limit: number,
  encode: (next: LogPosition | null) => string | null,
): Promise<string> {
  const pool = requireDatabase(deps);
  // In this order a call that ends meanwhile comes twice rather than not at all.
  const position = formatTailPosition(await readTailEnd(pool));
  const open = await listOpenCalls(pool, accountId, traceId);
  const page = await listRunCallColumns(pool, accountId, traceId, after, limit);
  const ended = new Set<unknown>(open.length === 0 ? [] : page.ids());
  const rest = JSON.stringify({
    open: open.filter((call) => !ended.has(call.id)),
    next_cursor: encode(page.next),
    position,
  });
  return `{"columns":${page.columns},${rest.slice(1)}`;
}

export function addRunCallRoutes(app: OpenAPIHono, deps: AdminDeps): void {
  const calls = createRoute({
    method: 'get',
    path: '/api/v1/run/calls',
    summary: 'The calls of a run in time order, without their longest columns',
    request: { query: CallsQuery },
    responses: {
      200: jsonAnswer(
        z.union([LogPageBody, RunCallsBody]),
        'A page of calls; none for an unknown run. The second form with `columns=true`',
      ),
      ...COMMON_ERRORS,
    },
  });
  app.openAPIRegistry.registerPath(calls);
  // SQL made plain values; validating a million of them again would be slow.
  app.get('/api/v1/run/calls', async (c) => {
    const { trace_id, cursor, limit, columns } = parseQuery(c.req.url, CallsQuery);
    const question = hashQuestion(['calls', trace_id]);
    const after = cursor === undefined ? null : decodeCursor(cursor, question, LogPositionBody);
    const encode = (next: LogPosition | null): string | null =>
      next === null ? null : encodeCursor(question, [next.requestedAt, next.id]);
    if (columns === 'true') {
      const text = await readColumns(deps, accountOf(c), trace_id, after, limit, encode);
      return c.body(text, 200, { 'content-type': 'application/json' });
    }
    const page = await listRunCalls(requireDatabase(deps), accountOf(c), trace_id, after, limit);
    return c.json({ data: page.records, next_cursor: encode(page.next) }, 200);
  });
}
