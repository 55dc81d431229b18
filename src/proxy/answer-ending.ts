/** The ways in which an answer ends; each ends in one of them, once. */
import type { ClosedBefore } from '../vocabulary/call-record.ts';
import type { KeyEnd } from './key-end.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

export type AnswerEnding =
  /** Everything came, and all but the last byte was sent. */
  | { readonly kind: 'complete' }
  /** `isStalled`: the client stayed connected and read nothing for too long. `before`: what had not arrived. */
  | { readonly kind: 'client-gone'; readonly isStalled: boolean; readonly before: ClosedBefore }
  /** The client left at the finish reason or the last event. `isComplete`: the rest was read. */
  | { readonly kind: 'delivered'; readonly isComplete: boolean }
  | { readonly kind: 'upstream-cut'; readonly failure: UpstreamFailure }
  | { readonly kind: 'no-answer'; readonly failure: UpstreamFailure }
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'key-ended'; readonly code: KeyEnd };

/** True when the provider's answer came to its end, whether or not the client stayed. */
export function isWhole(how: AnswerEnding): boolean {
  return how.kind === 'complete' || (how.kind === 'delivered' && how.isComplete);
}
