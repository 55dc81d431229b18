/** The ways in which an answer ends; each ends in one of them, once. */
import type { ClosedBefore } from '../call-record.ts';
import type { KeyEnd } from './key-end.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

export type AnswerEnding =
  /** The whole answer came; all of it but the last byte was sent. */
  | { readonly kind: 'complete' }
  /** `isStalled`: it was there and took nothing for too long. `before`: what had not come by then. */
  | { readonly kind: 'client-gone'; readonly isStalled: boolean; readonly before: ClosedBefore }
  /** The client went with all it wanted, at the finish reason or the last event. `isComplete`: the rest was read. */
  | { readonly kind: 'delivered'; readonly isComplete: boolean }
  /** The answer began and was cut. */
  | { readonly kind: 'upstream-cut'; readonly failure: UpstreamFailure }
  /** No answer began. */
  | { readonly kind: 'no-answer'; readonly failure: UpstreamFailure }
  | { readonly kind: 'shutdown' }
  /** The call's key was revoked or has expired. */
  | { readonly kind: 'key-ended'; readonly code: KeyEnd };

/** The provider's answer came to its end, whoever was there to see it. */
export function isWhole(how: AnswerEnding): boolean {
  return how.kind === 'complete' || (how.kind === 'delivered' && how.isComplete);
}
