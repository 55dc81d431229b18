/** How far a reader of the attempts stream is, in the log and in the supervisor's list. Pure. */
import type { RejectedAttempt, SupervisorStatus } from '../../vocabulary/channel.ts';
import { formatTailPosition, parseTailPosition, type TailPosition } from '../log/tail-logs.ts';

export interface AttemptPosition {
  /** Identifies the supervisor that counted; another one starts anew. */
  readonly startedAtMs: number;
  /** Attempts counted so far, forgotten ones included. */
  readonly count: number;
}

/** Matches no supervisor, so that all kept attempts are new. */
export const FIRST_ATTEMPT: AttemptPosition = Object.freeze({ startedAtMs: 0, count: 0 });

export interface ArrivalPosition {
  readonly tail: TailPosition;
  readonly attempts: AttemptPosition;
}

const ID = /^([0-9a-f_-]{1,64})\.(\d{1,15})\.(\d{1,15})$/;

export function formatArrivalId({ tail, attempts }: ArrivalPosition): string {
  return `${formatTailPosition(tail)}.${attempts.startedAtMs}.${attempts.count}`;
}

/** Null when the text is no event id of this stream. */
export function parseArrivalId(text: string): ArrivalPosition | null {
  const [, tailText = '', startedAtMs, count] = ID.exec(text) ?? [];
  const tail = parseTailPosition(tailText);
  return tail === null ? null : { tail, attempts: { startedAtMs: Number(startedAtMs), count: Number(count) } };
}

export interface NewAttempt {
  readonly attempt: RejectedAttempt;
  readonly position: AttemptPosition;
}

/** Kept attempts after the position, the oldest first. */
export function listNewAttempts(status: SupervisorStatus, after: AttemptPosition): readonly NewAttempt[] {
  const { startedAtMs, attempts, attemptsTotal } = status;
  const seen = after.startedAtMs === startedAtMs ? after.count : 0;
  const forgotten = attemptsTotal - attempts.length;
  return attempts
    .map((attempt, index) => ({ attempt, position: { startedAtMs, count: forgotten + index + 1 } }))
    .filter(({ position }) => position.count > seen);
}
