/** What an answer needs: of the call it belongs to, and of those who read and edit its bytes as they pass. */
import type { UsageReading } from '../token-usage.ts';
import type { Answer } from './answer.ts';
import type { AnswerHead } from './answer-head.ts';
import type { BodyCopy } from './body-copy.ts';
import type { HeaderNames } from './header-names.ts';
import type { IdleSweep } from './idle-sweep.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** Reads usage from the tapped bytes. `push` says that a checkpoint is due before this chunk goes to the client. */
export interface AnswerMeter {
  push(chunk: Buffer): boolean;
  finish(complete: boolean, done: (reading: UsageReading) => void): void;
  /** Calls `done` when all that was pushed is read: at once, but for an encoded answer. */
  settle(done: () => void): void;
  readonly reading: UsageReading;
  readonly sawContent: boolean;
}

/** Takes away from the client's copy what the gateway had asked for; null when nothing is to be sent yet. */
export interface ClientFilter {
  push(chunk: Buffer): Buffer | null;
  finish(): Buffer | null;
}

/** What an answer needs of the call it belongs to. */
export interface AnswerOptions {
  readonly requestId: string;
  readonly method: string;
  /** The client has asked for trailers; without that they are dropped. */
  readonly takesTrailers: boolean;
  readonly copy: BodyCopy;
  readonly headerNames: HeaderNames;
  readonly drainsOnClientAbort: boolean;
  readonly keyDigest: string;
  /** Whether it is cut when its key ends; the head is null until it has come. */
  readonly endsWithKey: (head: AnswerHead | null) => boolean;
  /** Gives up clients that take nothing. */
  readonly stalls: IdleSweep;
  /** Monotonic time at which the call arrived; all times of an answer count from it. */
  readonly arrivedMs: number;
  /** Asked first: what the client gets instead of this head, or null. */
  readonly refusesHead: (head: AnswerHead) => UpstreamFailure | null;
  /** The provider's headers as the client gets them: flat. */
  readonly editHeaders: ((headers: string[]) => string[]) | null;
  /** Called with the head; gives what depends on it. */
  readonly onHead: (head: AnswerHead) => { readonly meter: AnswerMeter; readonly filter: ClientFilter | null };
  /** Writes a checkpoint and calls `done` when it is kept (or lost). */
  readonly checkpoint: (answer: Answer, done: () => void) => void;
}
