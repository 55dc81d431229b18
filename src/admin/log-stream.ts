/** The live tail: server-sent events, one per new call, resumable by Last-Event-ID, in the order in which rows became visible. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRoute, type OpenAPIHono, z } from '@hono/zod-openapi';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import type { LogFilter } from '../runs/log-filter.ts';
import { formatTailPosition, parseTailPosition, readTailEnd, type TailPosition, tailLogs } from '../runs/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError, isDatabaseDown } from './api-error.ts';
import { FilterQuery, filtersOf } from './logs-resource.ts';
import { COMMON_ERRORS, errorAnswer } from './schemas.ts';

const MAX_STREAMS = 20;
const POLL_MS = 400;
const ROWS_PER_POLL = 200;
/** Below the idle limits of usual intermediaries (30 to 60 s). */
const KEEP_ALIVE_MS = 15_000;
/** After a failed question to the database. */
const RETRY_MS = 2_000;

async function sendNew(
  stream: SSEStreamingApi,
  deps: AdminDeps,
  filters: readonly LogFilter[],
  after: TailPosition,
): Promise<TailPosition> {
  const rows = await tailLogs(requireDatabase(deps), deps.accountId, filters, after, ROWS_PER_POLL);
  for (const { position, record } of rows)
    await stream.writeSSE({ event: 'log', id: formatTailPosition(position), data: JSON.stringify(record) });
  if (rows.length < ROWS_PER_POLL) await sleep(POLL_MS);
  return rows.at(-1)?.position ?? after;
}

/** Until the client is gone. A database that is down is waited for: the position stays, so nothing is missed. */
async function follow(
  stream: SSEStreamingApi,
  deps: AdminDeps,
  filters: readonly LogFilter[],
  start: TailPosition,
): Promise<void> {
  let position = start;
  let lastSentMs = performance.now();
  await stream.write(': following\n\n');
  while (!stream.aborted && !stream.closed) {
    const before = position;
    try {
      position = await sendNew(stream, deps, filters, position);
    } catch (error) {
      if (!isDatabaseDown(error) && !(error instanceof ApiError)) throw error;
      await sleep(RETRY_MS);
    }
    if (position !== before) lastSentMs = performance.now();
    if (performance.now() - lastSentMs < KEEP_ALIVE_MS) continue;
    await stream.write(': keep-alive\n\n');
    lastSentMs = performance.now();
  }
}

export function addLogStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  let streams = 0;
  const route = createRoute({
    method: 'get',
    path: '/api/v1/logs/stream',
    summary: 'New calls as server-sent events',
    request: {
      query: FilterQuery,
      headers: z.object({
        'last-event-id': z.string().optional().describe('Continue after this event; without it, from now on'),
      }),
    },
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
    const { f, exclude_runs } = c.req.valid('query');
    const filters = [...filtersOf(f), ...(exclude_runs === 'true' ? filtersOf('trace_id:nohas') : [])];
    const lastId = c.req.valid('header')['last-event-id'];
    const given = lastId === undefined ? null : parseTailPosition(lastId);
    if (lastId !== undefined && given === null)
      throw new ApiError(400, 'invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
    if (streams >= MAX_STREAMS)
      throw new ApiError(429, 'too_many_streams', `At most ${MAX_STREAMS} streams are served at a time.`);
    const start = given ?? (await readTailEnd(requireDatabase(deps)));
    streams += 1;
    return streamSSE(
      c,
      async (stream) => {
        try {
          await follow(stream, deps, filters, start);
        } finally {
          streams -= 1;
        }
      },
      async (error) => deps.log.error({ err: error }, 'the live tail failed'),
    );
  });
}
