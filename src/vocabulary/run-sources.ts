/**
 * Where a call's run may come from besides `X-Gateway-Trace-Id`, as a key's `runs_from` lists them. The first of the list
 * that a call has decides.
 */

/** Sources without a parameter. */
export const PLAIN_RUN_SOURCES = [
  'agents',
  'traceparent',
  'x-amzn-trace-id',
  'conversation',
  'previous_response_id',
  'tool_calls',
] as const;

/** Sources with one: `metadata.session_id` is the member `session_id` of the request's `metadata`. */
export const KEYED_RUN_SOURCES = ['baggage', 'metadata', 'requestMetadata', 'labels'] as const;

export const MAX_RUN_SOURCES = 10;

const PATTERN = new RegExp(
  `^(?:${PLAIN_RUN_SOURCES.join('|')}|(?:${KEYED_RUN_SOURCES.join('|')})\\.[\\w.:/@-]{1,64})$`,
);

export function isRunSource(text: string): boolean {
  return PATTERN.test(text);
}

/** What `trace_source` says of a run that the client's own header names, or its run token. */
export const HEADER_SOURCE = 'header';
export const TOKEN_SOURCE = 'run_token';
export const AGENT_SOURCE = 'agents';
export const CHAIN_SOURCE = 'previous_response_id';
/** The shipper reads it from the bodies that are kept, so that only calls without a run of another source are in it. */
export const TOOL_CALL_SOURCE = 'tool_calls';
/** Of calls that were stored without a run and put into their session's afterwards. */
export const GROUPED_SOURCE = 'grouped';
