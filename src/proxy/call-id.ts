/** The id of a call: a UUIDv7 (RFC 9562 5.7), ascending within a process even when the clock steps back a little. */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const RANDOM_BYTES = 16;
const IDS_PER_DRAW = 256;
/** The 32-bit sequence of a millisecond starts in the lower half, so that it cannot overflow. */
const FIRST_SEQUENCE_MASK = 0x7fffffff;
/** After a larger step back the clock was wrong before, and ids follow it. Random bits keep them unique. */
const FOLLOWED_STEP_MS = 10_000;

export interface CallId {
  readonly id: string;
  /** The millisecond in the id. */
  readonly timeMs: number;
}

export function createCallIds(now: () => number = Date.now): () => CallId {
  const pool = Buffer.alloc(RANDOM_BYTES * IDS_PER_DRAW);
  let at = pool.length;
  let timeMs = 0;
  let sequence = 0;
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    const random = pool.subarray(at, at + RANDOM_BYTES);
    at += RANDOM_BYTES;
    const nowMs = now();
    if (nowMs > timeMs || nowMs < timeMs - FOLLOWED_STEP_MS) {
      timeMs = nowMs;
      sequence = random.readUInt32BE(0) & FIRST_SEQUENCE_MASK;
    } else {
      sequence += 1;
    }
    return { id: v7({ random, msecs: timeMs, seq: sequence }), timeMs };
  };
}
