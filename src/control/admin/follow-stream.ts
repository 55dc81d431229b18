/** Server-sent events from repeated queries: pauses, bounds and end, but not the content. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { readTailEnd, type TailPosition } from '../log/tail-logs.ts';
import { isDatabaseDown } from '../store/database-error.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError } from './api-error.ts';
import { COMMON_ERRORS, errorAnswer } from './schemas.ts';

const MAX_STREAMS = 20;
const POLL_MS = 400;
/** Below the idle limits of usual intermediaries (30 to 60 s). */
const KEEP_ALIVE_MS = 15_000;
const RETRY_MS = 2_000;
/** After failures in a row that are none of the connection; keep-alives come between. */
const MAX_RETRY_MS = 10_000;

export interface Polled {
  readonly position: TailPosition;
  readonly hasSent: boolean;
  readonly isFull: boolean;
}

/** Sends what came after the position. `end` is where to go on from when nothing is found. */
export type Poll = (after: TailPosition, end: TailPosition) => Promise<Polled>;

export interface Followed {
  readonly start: TailPosition;
  readonly poll: Poll;
  /** The id that goes on behind a position; null where that would leave out what comes first. */
  readonly formatId: (position: TailPosition) => string | null;
  /** For tests. */
  readonly pauses?: { readonly keepAliveMs: number; readonly retryMs: number };
}

/**
 * Runs until the client is gone. While polls fail the position stays, so nothing is missed; what failed is for the log
 * alone. Keep-alives have an id and no data: a client that was sent nothing goes on behind what did not match.
 */
export async function followStream(
  stream: SSEStreamingApi,
  deps: Pick<AdminDeps, 'database' | 'log'>,
  { start, poll, formatId, pauses = { keepAliveMs: KEEP_ALIVE_MS, retryMs: RETRY_MS } }: Followed,
): Promise<void> {
  const { keepAliveMs, retryMs } = pauses;
  // Mutable: how far it is, and what has failed in a row.
  let position = start;
  let failures = 0;
  let lastSentMs = performance.now();
  await stream.write(': following\n\n');
  while (!stream.aborted && !stream.closed) {
    try {
      // Read before the rows, so that an empty result covers all below it.
      const end = await readTailEnd(requireDatabase(deps));
      const polled = await poll(position, end);
      position = polled.position;
      failures = 0;
      if (polled.hasSent) lastSentMs = performance.now();
      if (!polled.isFull) await sleep(POLL_MS);
    } catch (error) {
      if (!isDatabaseDown(error) && !(error instanceof ApiError)) {
        if (failures === 0) deps.log.error({ err: error }, 'a stream of events cannot go on; it tries again');
        failures += 1;
      }
      await sleep(Math.min(retryMs * Math.max(1, failures), MAX_RETRY_MS));
    }
    if (performance.now() - lastSentMs < keepAliveMs) continue;
    const id = formatId(position);
    await stream.write(id === null ? ': keep-alive\n\n' : `: keep-alive\nid: ${id}\n\n`);
    lastSentMs = performance.now();
  }
}

/** The later position, so that rows that did not match are not read again. */
export function laterPosition(a: TailPosition, b: TailPosition): TailPosition {
  const difference = BigInt(a.xid) - BigInt(b.xid);
  return difference > 0n || (difference === 0n && a.id > b.id) ? a : b;
}

/** The documented answers of a streaming route. */
export function streamAnswers(description: string) {
  return {
    200: { description, content: { 'text/event-stream': { schema: z.string() } } },
    429: errorAnswer('Too many open streams'),
    ...COMMON_ERRORS,
  };
}

/** Serves streams of one kind within a limit. `follow` ends when the client is gone. */
export function createStreams(deps: AdminDeps, name: string) {
  let open = 0;
  return (c: Context, follow: (stream: SSEStreamingApi) => Promise<void>): Response => {
    if (open >= MAX_STREAMS)
      throw new ApiError(429, 'too_many_streams', `At most ${MAX_STREAMS} streams are served at a time.`);
    open += 1;
    return streamSSE(c, async (stream) => {
      // What is thrown would be sent as an event.
      try {
        await follow(stream);
      } catch (error) {
        deps.log.error({ err: error }, `${name} failed`);
      } finally {
        open -= 1;
      }
    });
  };
}
