/** Refused attempts and new calls as server-sent events, without demo data, for the Get started page. */
import { createRoute, type OpenAPIHono } from '@hono/zod-openapi';
import type { SSEStreamingApi } from 'hono/streaming';
import { listLogs } from '../log/list-logs.ts';
import { readTailEnd, type TailPosition, tailLogs } from '../log/tail-logs.ts';
import { LOG_COLUMN_NAMES, type LogRow } from '../store/log-columns.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import {
  type ArrivalPosition,
  FIRST_ATTEMPT,
  formatArrivalId,
  listNewAttempts,
  parseArrivalId,
} from './attempt-position.ts';
import { formatAttempt } from './attempts-resource.ts';
import { createStreams, followStream, laterPosition, streamAnswers } from './follow-stream.ts';
import { LastEventHeaders } from './log-stream.ts';
import { type Principal, principalOf } from './principal.ts';
import { filtersOf } from './scope-parameters.ts';

const CALLS_PER_POLL = 100;
/** What a new reader gets from before. */
const FIRST_ATTEMPTS = 20;
const FIRST_CALLS = 5;

async function demoFilter(deps: AdminDeps) {
  const keyId = await deps.demoData.readKeyId();
  return keyId === null ? [] : filtersOf(`key_id:ne:${keyId}`);
}

async function listFirstCalls(deps: AdminDeps, accountId: number): Promise<readonly Partial<LogRow>[]> {
  const query = {
    accountId,
    filters: await demoFilter(deps),
    search: null,
    from: null,
    to: null,
    excludeRuns: false,
    sort: '-requested_at',
    columns: LOG_COLUMN_NAMES,
  } as const;
  const { records } = await listLogs(requireDatabase(deps), query, null, FIRST_CALLS);
  return records.toReversed();
}

async function follow(
  stream: SSEStreamingApi,
  deps: AdminDeps,
  principal: Principal,
  given: ArrivalPosition | null,
  start: TailPosition,
) {
  const { accountId } = principal;
  const isNew = given === null;
  let attemptsAt = given?.attempts ?? FIRST_ATTEMPT;
  let isBegun = !isNew;
  const toldIds = new Set<unknown>();

  const send = (event: 'attempt' | 'call', tail: TailPosition, data: unknown) =>
    stream.writeSSE({ event, id: formatArrivalId({ tail, attempts: attemptsAt }), data: JSON.stringify(data) });

  async function sendAttempts(tail: TailPosition): Promise<number> {
    // Nobody knows whose a refused attempt is.
    const status = principal.kind === 'operator' ? await deps.readSupervisorStatus() : null;
    if (status === null) return 0;
    const found = listNewAttempts(status, attemptsAt);
    const told = isBegun ? found : found.slice(-FIRST_ATTEMPTS);
    for (const { attempt, position } of told) {
      attemptsAt = position;
      await send('attempt', tail, formatAttempt(attempt, deps.baseUrl));
    }
    return told.length;
  }

  async function sendFirstCalls(tail: TailPosition): Promise<void> {
    for (const record of await listFirstCalls(deps, accountId)) {
      toldIds.add(record.id);
      await send('call', tail, record);
    }
  }

  const formatId = (tail: TailPosition) => (isBegun ? formatArrivalId({ tail, attempts: attemptsAt }) : null);
  await followStream(stream, deps, {
    start,
    formatId,
    poll: async (after, end) => {
      const attempts = await sendAttempts(after);
      if (!isBegun) await sendFirstCalls(after);
      isBegun = true;
      const filters = await demoFilter(deps);
      const rows = await tailLogs(requireDatabase(deps), accountId, filters, after, CALLS_PER_POLL);
      for (const { position, record } of rows) if (!toldIds.delete(record.id)) await send('call', position, record);
      const last = rows.at(-1)?.position ?? after;
      const isFull = rows.length === CALLS_PER_POLL;
      return { position: isFull ? last : laterPosition(last, end), hasSent: attempts + rows.length > 0, isFull };
    },
  });
}

const attemptStreamRoute = createRoute({
  method: 'get',
  path: '/api/v1/attempts/stream',
  summary: 'What arrives, as server-sent events: refused attempts and calls, the last few first',
  request: { headers: LastEventHeaders },
  responses: streamAnswers(
    'Events named `attempt` (as in /attempts) and `call` (as in /logs, without demo data); the id is for Last-Event-ID',
  ),
});

export function addAttemptStreamRoute(app: OpenAPIHono, deps: AdminDeps): void {
  const serveStream = createStreams(deps, 'the stream of what arrives');
  app.openapi(attemptStreamRoute, async (c) => {
    const lastId = c.req.valid('header')['last-event-id'];
    const given = lastId === undefined ? null : parseArrivalId(lastId);
    if (lastId !== undefined && given === null)
      throw new ApiError(400, 'invalid_request', 'Last-Event-ID is not the id of an event of this stream.');
    const start = given?.tail ?? (await readTailEnd(requireDatabase(deps)));
    return serveStream(c, (stream) => follow(stream, deps, principalOf(c), given, start));
  });
}
