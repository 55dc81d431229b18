/**
 * Which fields may stand behind a body. RFC 9110 6.5.1 rules out what has to be known before the content is read: framing,
 * routing, authentication, request modifiers, response controls and the content's format. What belongs to one hop is
 * `hop-by-hop.ts`.
 */

const NOT_TRAILERS: ReadonlySet<string> = new Set([
  // Routing, authentication and state.
  'host',
  'authorization',
  'www-authenticate',
  'cookie',
  'cookie2',
  'set-cookie',
  'set-cookie2',
  // Request modifiers.
  'expect',
  'max-forwards',
  'pragma',
  'range',
  // Response controls (RFC 7231 7.1, RFC 9111 5).
  'age',
  'cache-control',
  'date',
  'expires',
  'location',
  'retry-after',
  'vary',
  'warning',
]);

/** Digests of what was sent, which RFC 9530 allows in a trailer; `Digest` is their older form. */
const DIGESTS: ReadonlySet<string> = new Set(['content-digest', 'repr-digest', 'digest']);

/** `name` in lower case. */
export function isTrailerField(name: string): boolean {
  if (name.startsWith('content-')) return name === 'content-digest';
  return !NOT_TRAILERS.has(name) && !name.startsWith('if-') && !name.startsWith('proxy-');
}

/** `name` in lower case. */
export function isDigest(name: string): boolean {
  return DIGESTS.has(name);
}
