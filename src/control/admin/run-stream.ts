/** One run's new calls and its changed list of open calls as server-sent events. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { listOpenCalls } from '../log/list-open-calls.ts';
import { tailRunCalls } from '../log/run-call-columns.ts';
import { formatTailPosition, readTailEnd } from '../log/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { createStreams, followStream, laterPosition, streamAnswers } from './follow-stream.ts';
import { LastEventHeaders, readLastEventId } from './log-stream.ts';
import { accountOf } from './principal.ts';
import { TraceIdParameter } from './schemas.ts';

const CALLS_PER_EVENT = 1_000;

const runStreamRoute = createRoute({
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
  responses: streamAnswers(
    'Events named `calls`, whose data is `{columns}` as of /run/calls with `columns=true` and whose id is for Last-Event-ID, and `open`, whose data is the array of all open calls',
  ),
});

export function addRunStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const serveStream = createStreams(deps, 'the stream of a run');
  app.openapi(runStreamRoute, async (c) => {
    const { trace_id, after: begin } = c.req.valid('query');
    const given = readLastEventId(c.req.valid('header')['last-event-id'] ?? begin);
    const start = given ?? (await readTailEnd(requireDatabase(deps)));
    let sentOpen = '';
    return serveStream(c, (stream) =>
      followStream(stream, deps, {
        start,
        formatId: formatTailPosition,
        poll: async (after, end) => {
          const pool = requireDatabase(deps);
          const open = JSON.stringify(await listOpenCalls(pool, accountOf(c), trace_id));
          const tailed = await tailRunCalls(pool, accountOf(c), trace_id, after, CALLS_PER_EVENT);
          const { calls, columns, position } = tailed;
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
        },
      }),
    );
  });
}
