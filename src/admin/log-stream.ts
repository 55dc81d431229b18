/** The live tail: server-sent events, one per new call, resumable by Last-Event-ID, in the order in which rows became visible. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { streamSSE } from 'hono/streaming';
import { formatTailPosition, parseTailPosition, readTailEnd, type TailPosition, tailLogs } from '../runs/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { createStreamLimit, followStream, laterPosition } from './follow-stream.ts';
import { COMMON_ERRORS, errorAnswer } from './schemas.ts';
import { FilterQuery, filtersOf, searchOf } from './scope-parameters.ts';

const ROWS_PER_POLL = 200;

export const LastEventHeaders = z.object({
  'last-event-id': z.string().optional().describe('Continue after this event; without it, from now on'),
});

/** Null when none was given; throws when it is none of ours. */
export function readLastEventId(lastId: string | undefined): TailPosition | null {
  if (lastId === undefined) return null;
  const position = parseTailPosition(lastId);
  if (position === null)
    throw new ApiError(400, 'invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
  return position;
}

export function addLogStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const limit = createStreamLimit();
  const route = createRoute({
    method: 'get',
    path: '/api/v1/logs/stream',
    summary: 'New calls as server-sent events',
    request: { query: FilterQuery, headers: LastEventHeaders },
    responses: {
      200: {
        description: 'Events named `log`; the data is a call as in the list, the id is for Last-Event-ID',
        content: { 'text/event-stream': { schema: z.string() } },
      },
      429: errorAnswer('Too many open streams'),
      ...COMMON_ERRORS,
    },
  });
  app.openapi(route, async (c) => {
    const { f, q, exclude_runs } = c.req.valid('query');
    const filters = [...filtersOf(f), ...(exclude_runs === 'true' ? filtersOf('trace_id:nohas') : [])];
    const given = readLastEventId(c.req.valid('header')['last-event-id']);
    const start = given ?? (await readTailEnd(requireDatabase(deps)));
    limit.enter();
    return streamSSE(
      c,
      async (stream) => {
        try {
          await followStream(stream, deps, start, async (after, end) => {
            const pool = requireDatabase(deps);
            const rows = await tailLogs(pool, deps.accountId, filters, after, ROWS_PER_POLL, searchOf(q));
            for (const { position, record } of rows)
              await stream.writeSSE({ event: 'log', id: formatTailPosition(position), data: JSON.stringify(record) });
            const last = rows.at(-1)?.position ?? after;
            const isFull = rows.length === ROWS_PER_POLL;
            return { position: isFull ? last : laterPosition(last, end), hasSent: rows.length > 0, isFull };
          });
        } finally {
          limit.leave();
        }
      },
      async (error) => deps.log.error({ err: error }, 'the live tail failed'),
    );
  });
}
