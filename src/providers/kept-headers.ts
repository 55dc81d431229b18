/**
 * The headers that the log keeps, of all providers: what helps to understand a call, and no credential. All others are
 * dropped rather than redacted.
 */

/** Of a request, in lower case. */
export const KEPT_REQUEST_HEADERS: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'anthropic-beta',
  'anthropic-version',
  'content-encoding',
  'content-length',
  'content-type',
  'openai-beta',
  'openai-organization',
  'openai-project',
  'user-agent',
  'x-request-id',
  'x-stainless-lang',
  'x-stainless-package-version',
  'x-stainless-retry-count',
]);

/** Of an answer, besides those that begin with one of the prefixes. */
const KEPT_RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'openai-processing-ms',
  'openai-version',
  'request-id',
  'retry-after',
  'retry-after-ms',
  'server-timing',
  'x-amzn-errortype',
  'x-amzn-requestid',
  'x-request-id',
]);
const KEPT_RESPONSE_PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-', 'x-amzn-bedrock-'] as const;

/** `name` in lower case. */
export function isKeptResponseHeader(name: string): boolean {
  return KEPT_RESPONSE_HEADERS.has(name) || KEPT_RESPONSE_PREFIXES.some((prefix) => name.startsWith(prefix));
}
