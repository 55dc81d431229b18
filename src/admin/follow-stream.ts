/** A stream of server-sent events that asks the database again and again: its pauses, its bounds, its end. Not what it sends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SSEStreamingApi } from 'hono/streaming';
import { readTailEnd, type TailPosition } from '../runs/tail-logs.ts';
import { type AdminDeps, requireDatabase } from './admin-deps.ts';
import { ApiError, isDatabaseDown } from './api-error.ts';

const MAX_STREAMS = 20;
const POLL_MS = 400;
/** Below the idle limits of usual intermediaries (30 to 60 s). */
const KEEP_ALIVE_MS = 15_000;
/** After a failed question to the database. */
const RETRY_MS = 2_000;

export interface Polled {
  readonly position: TailPosition;
  readonly hasSent: boolean;
  /** There may be more at once. */
  readonly isFull: boolean;
}

/** Sends what came after the position. `end` is where a question that finds nothing may go on from. */
export type Poll = (after: TailPosition, end: TailPosition) => Promise<Polled>;

/** Until the client is gone. A database that is down is waited for: the position stays, so nothing is missed. */
export async function followStream(
  stream: SSEStreamingApi,
  deps: AdminDeps,
  start: TailPosition,
  poll: Poll,
): Promise<void> {
  // Move with what was sent.
  let position = start;
  let lastSentMs = performance.now();
  await stream.write(': following\n\n');
  while (!stream.aborted && !stream.closed) {
    try {
      // Read before the rows, so that all below it has been seen when none of them is left.
      const end = await readTailEnd(requireDatabase(deps));
      const polled = await poll(position, end);
      position = polled.position;
      if (polled.hasSent) lastSentMs = performance.now();
      if (!polled.isFull) await sleep(POLL_MS);
    } catch (error) {
      if (!isDatabaseDown(error) && !(error instanceof ApiError)) throw error;
      await sleep(RETRY_MS);
    }
    if (performance.now() - lastSentMs < KEEP_ALIVE_MS) continue;
    await stream.write(': keep-alive\n\n');
    lastSentMs = performance.now();
  }
}

/** The later of two places, so that what did not match is not read again. */
export function laterPosition(a: TailPosition, b: TailPosition): TailPosition {
  const difference = BigInt(a.xid) - BigInt(b.xid);
  return difference > 0n || (difference === 0n && a.id > b.id) ? a : b;
}

/** Counts the open streams of one kind. */
export function createStreamLimit() {
  let streams = 0;
  return {
    /** Throws when there are too many; otherwise `leave` must follow. */
    enter: (): void => {
      if (streams >= MAX_STREAMS)
        throw new ApiError(429, 'too_many_streams', `At most ${MAX_STREAMS} streams are served at a time.`);
      streams += 1;
    },
    leave: (): void => {
      streams -= 1;
    },
  };
}
