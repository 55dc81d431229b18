/** The live tail: one event for each call, in order of visibility, resumable by Last-Event-ID. */
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { formatTailPosition, parseTailPosition, readTailEnd, type TailPosition, tailLogs } from '../log/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { createStreams, followStream, laterPosition, streamAnswers } from './follow-stream.ts';
import { accountOf, principalOf } from './principal.ts';
import { FilterQuery, filtersOf, searchOf } from './scope-parameters.ts';

const ROWS_PER_POLL = 200;

export const LastEventHeaders = z.object({
  'last-event-id': z.string().optional().describe('Continue after this event; without it, from now on'),
});

/** Returns null for none; throws for a foreign id. */
export function readLastEventId(lastId: string | undefined): TailPosition | null {
  if (lastId === undefined) return null;
  const position = parseTailPosition(lastId);
  if (position === null)
    throw new ApiError(400, 'invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
  return position;
}

const logStreamRoute = createRoute({
  method: 'get',
  path: '/api/v1/logs/stream',
  summary: 'New calls as server-sent events',
  request: { query: FilterQuery, headers: LastEventHeaders },
  responses: streamAnswers(
    'Events named `log`; the data is a call as in the list, the id is for Last-Event-ID; keep-alives have an id and no data',
  ),
});

export function addLogStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const serveStream = createStreams(deps, 'the live tail');
  app.openapi(logStreamRoute, async (c) => {
    const { f, q, q_texts: texts, exclude_runs } = c.req.valid('query');
    const filters = [...filtersOf(f), ...(exclude_runs === 'true' ? filtersOf('trace_id:nohas') : [])];
    const given = readLastEventId(c.req.valid('header')['last-event-id']);
    const start = given ?? (await readTailEnd(requireDatabase(deps)));
    return serveStream(c, (stream) =>
      followStream(stream, deps, {
        start,
        formatId: formatTailPosition,
        poll: async (after, end) => {
          const pool = requireDatabase(deps);
          const rows = await tailLogs(
            pool,
            accountOf(c),
            filters,
            after,
            ROWS_PER_POLL,
            { search: searchOf(q), searchesTexts: texts !== 'false' },
            deps.keepsTexts() && principalOf(c).mayReadBodies,
          );
          for (const { position, record } of rows)
            await stream.writeSSE({ event: 'log', id: formatTailPosition(position), data: JSON.stringify(record) });
          const last = rows.at(-1)?.position ?? after;
          const isFull = rows.length === ROWS_PER_POLL;
          return { position: isFull ? last : laterPosition(last, end), hasSent: rows.length > 0, isFull };
        },
      }),
    );
  });
}
