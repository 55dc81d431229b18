/** How far a reader of the attempts stream is: in the log, and in the supervisor's list of refused attempts. Pure. */
import type { RejectedAttempt, SupervisorStatus } from '../channel.ts';
import { formatTailPosition, parseTailPosition, type TailPosition } from '../runs/tail-logs.ts';

export interface AttemptPosition {
  /** Which supervisor counted; another one begins anew. */
  readonly startedAtMs: number;
  /** Attempts that it had kept until then, those it has forgotten since included. */
  readonly count: number;
}

/** Nobody's: all that is kept is new. */
export const FIRST_ATTEMPT: AttemptPosition = Object.freeze({ startedAtMs: 0, count: 0 });

export interface ArrivalPosition {
  readonly tail: TailPosition;
  readonly attempts: AttemptPosition;
}

const ID = /^([0-9a-f_-]{1,64})\.(\d{1,15})\.(\d{1,15})$/;

export function formatArrivalId({ tail, attempts }: ArrivalPosition): string {
  return `${formatTailPosition(tail)}.${attempts.startedAtMs}.${attempts.count}`;
}

/** Null when the text is not the id of an event of this stream. */
export function parseArrivalId(text: string): ArrivalPosition | null {
  const [, tailText = '', startedAtMs, count] = ID.exec(text) ?? [];
  const tail = parseTailPosition(tailText);
  return tail === null ? null : { tail, attempts: { startedAtMs: Number(startedAtMs), count: Number(count) } };
}

export interface NewAttempt {
  readonly attempt: RejectedAttempt;
  /** After it. */
  readonly position: AttemptPosition;
}

/** The attempts that are kept and came after the position, the oldest first. */
export function listNewAttempts(status: SupervisorStatus, after: AttemptPosition): readonly NewAttempt[] {
  const { startedAtMs, attempts, attemptsTotal } = status;
  const seen = after.startedAtMs === startedAtMs ? after.count : 0;
  const forgotten = attemptsTotal - attempts.length;
  return attempts
    .map((attempt, index) => ({ attempt, position: { startedAtMs, count: forgotten + index + 1 } }))
    .filter(({ position }) => position.count > seen);
}
