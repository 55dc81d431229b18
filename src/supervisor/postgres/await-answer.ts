/** Waits for a server that starts, as long as its recovery moves: one that is ended begins again at the same checkpoint. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { readErrorCode } from '../../vocabulary/errors.ts';
import { askPostgres, type PostgresAnswer } from './postgres-connection.ts';
import { isRecovering, readStandstill } from './standstill.ts';

const POLL_MS = 20;
/** Each look reads all of /proc. */
const LOOK_MS = 250;

export interface AwaitOptions {
  readonly url: string;
  readonly postmaster: number;
  /** For so long nothing may move. */
  readonly limitMs: number;
  /** Nobody waits any more, or the server has ended. */
  readonly isOver: () => boolean;
  readonly log: Logger;
}

export type Awaited =
  | { readonly kind: 'answer'; readonly answer: PostgresAnswer }
  /** `stoodAt`: where it stood still all through the limit, if that is why. */
  | { readonly kind: 'failed'; readonly cause: unknown; readonly stoodAt: string | null };

export async function awaitAnswer({ url, postmaster, limitMs, isOver, log }: AwaitOptions): Promise<Awaited> {
  let movedMs = performance.now();
  let toldMs = movedMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  let stoodAt: string | null = null;
  let standsAt: string | null = null;
  for (;;) {
    let cause: unknown;
    try {
      return { kind: 'answer', answer: await askPostgres(url) };
    } catch (error) {
      cause = error;
    }
    if (readErrorCode(cause) === '3D000' || isOver()) return { kind: 'failed', cause, stoodAt: null };
    const nowMs = performance.now();
    if (nowMs - lookedMs >= LOOK_MS) {
      lookedMs = nowMs;
      standsAt = readStandstill(cause, postmaster);
      const hasMoved = standsAt !== null && standsAt !== stoodAt;
      // Without /proc nobody knows, and ending it would be the worse mistake.
      if (hasMoved || (process.platform !== 'linux' && isRecovering(cause))) movedMs = nowMs;
      stoodAt = standsAt ?? stoodAt;
    }
    if (nowMs - movedMs > limitMs) return { kind: 'failed', cause, stoodAt: standsAt };
    if (isRecovering(cause) && nowMs - toldMs > limitMs && movedMs > toldMs) {
      toldMs = nowMs;
      log.info(
        { pid: postmaster },
        'PostgreSQL recovers after a crash, and moves on; records wait in the spool meanwhile',
      );
    }
    await sleep(POLL_MS);
  }
}
