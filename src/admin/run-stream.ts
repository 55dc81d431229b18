/** One run as it grows: calls that became visible, and the list of open calls whenever it changed, as server-sent events. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { streamSSE } from 'hono/streaming';
import { listOpenCalls } from '../runs/list-open-calls.ts';
import { tailRunCalls } from '../runs/run-call-columns.ts';
import { formatTailPosition, readTailEnd } from '../runs/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { createStreamLimit, followStream, laterPosition } from './follow-stream.ts';
import { LastEventHeaders, readLastEventId } from './log-stream.ts';
import { COMMON_ERRORS, errorAnswer, TraceIdParameter } from './schemas.ts';

const CALLS_PER_EVENT = 1_000;

export function addRunStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const limit = createStreamLimit();
  const route = createRoute({
    method: 'get',
    path: '/api/v1/run/stream',
    summary: 'One run as server-sent events: its new calls, and its open calls when they change',
    request: {
      query: z.strictObject({
        trace_id: TraceIdParameter,
        after: z
          .string()
          .max(64)
          .optional()
          .describe('`position` of /run/calls: begin there, so that no call is missed in between'),
      }),
      headers: LastEventHeaders,
    },
    responses: {
      200: {
        description:
          'Events named `calls`, whose data is `{columns}` as of /run/calls with `columns=true` and whose id is for Last-Event-ID, and `open`, whose data is the array of all open calls',
        content: { 'text/event-stream': { schema: z.string() } },
      },
      429: errorAnswer('Too many open streams'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(route, async (c) => {
    const { trace_id, after: begin } = c.req.valid('query');
    const given = readLastEventId(c.req.valid('header')['last-event-id'] ?? begin);
    const start = given ?? (await readTailEnd(requireDatabase(deps)));
    limit.enter();
    return streamSSE(
      c,
      async (stream) => {
        // The list that was sent last, as text.
        let sentOpen = '';
        try {
          await followStream(stream, deps, start, async (after, end) => {
            const pool = requireDatabase(deps);
            const open = JSON.stringify(await listOpenCalls(pool, deps.accountId, trace_id));
            const { calls, columns, position } = await tailRunCalls(
              pool,
              deps.accountId,
              trace_id,
              after,
              CALLS_PER_EVENT,
            );
            if (position !== null)
              await stream.writeSSE({
                event: 'calls',
                id: formatTailPosition(position),
                data: JSON.stringify({ columns }),
              });
            const hasChanged = open !== sentOpen;
            if (hasChanged) await stream.writeSSE({ event: 'open', data: open });
            sentOpen = open;
            const isFull = calls === CALLS_PER_EVENT;
            const last = position ?? after;
            return {
              position: isFull ? last : laterPosition(last, end),
              hasSent: position !== null || hasChanged,
              isFull,
            };
          });
        } finally {
          limit.leave();
        }
      },
      async (error) => deps.log.error({ err: error }, 'the stream of a run failed'),
    );
  });
}
