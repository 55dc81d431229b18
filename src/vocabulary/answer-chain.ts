/**
 * Calls that continue one another's answers (`previous_response_id`). Their run is that of the call that a call continues, or
 * is named after the first answer that is known of, so that it never meets another program's id.
 */

const PREFIX = 'response:';
/** Longer than any provider's; what is longer, or has other characters, is none. */
const ANSWER_ID = /^[\w.:@+=~-]{1,128}$/;

export function isAnswerId(text: string): boolean {
  return ANSWER_ID.test(text);
}

export function chainTraceId(answerId: string): string {
  return PREFIX + answerId;
}

/** The answer that a chain's run is named after; null for another run. */
export function firstAnswerOf(traceId: string): string | null {
  return traceId.startsWith(PREFIX) ? traceId.slice(PREFIX.length) : null;
}
