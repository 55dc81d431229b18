/**
 * The id of a call: a UUIDv7 (RFC 9562 5.7) made on arrival, ascending within a process also when the clock steps back
 * a little, as time synchronisation makes it do.
 * Random bytes are drawn for many ids at once; that is the only reason why this is not `uuid.v7()` without arguments.
 */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

const RANDOM_BYTES = 16;
const IDS_PER_DRAW = 256;
/** The sequence within a millisecond has 32 bits; it starts in the lower half, so that it cannot run over. */
const FIRST_SEQUENCE_MASK = 0x7fffffff;
/**
 * A clock that steps back further was wrong before: ids follow it, or calls would be logged under a day that is not
 * theirs until the clock has caught up. They stay unique by their random bits.
 */
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
