/**
 * Addresses in the head of an answer that its client goes to next: where they lead, and which of them may not be passed
 * on. A client leaves the gateway by every one that is absolute, and many take the gateway's key along.
 */

import { GatewayError } from '../errors.ts';
import type { AnswerHead } from './answer-head.ts';
import type { Route } from './route.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** Redirects after which clients send the same method and body again, and many their credentials (RFC 9110 15.4). */
const RESENT: ReadonlySet<number> = new Set([307, 308]);
const MAX_TARGET_CHARS = 200;

/** Not relative, whatever stands behind it. */
const ABSOLUTE = /^\s*(?:https?:|[\\/]\s*[\\/])/i;

/**
 * As a client reads it: relative to what it called, which is the gateway. Null when it stays there, or is no address;
 * `unreadable` when it leads away, and only some clients can tell where.
 */
function readAway(address: string): URL | 'unreadable' | null {
  const here = 'http://gateway.invalid';
  const url = URL.parse(address.trim(), `${here}/`);
  if (url === null) return ABSOLUTE.test(address) ? 'unreadable' : null;
  return url.origin === here || !/^https?:$/.test(url.protocol) ? null : url;
}

/** Does a client that does as this head says leave the gateway? */
export function leadsAway({ names, rawHeaders }: AnswerHead): boolean {
  return names.some(({ isLeading }, index) => isLeading && readAway(rawHeaders[index * 2 + 1] ?? '') !== null);
}

/** Null when the answer may be passed on. */
export function refuseRedirect(head: AnswerHead, { origin, host, redirects }: Route): UpstreamFailure | null {
  if (redirects === 'pass' || !RESENT.has(head.status)) return null;
  const own = new URL(origin);
  // Of several, one client follows the first and another the last.
  for (const [index, { lower }] of head.names.entries()) {
    if (lower !== 'location') continue;
    const target = readAway(head.rawHeaders[index * 2 + 1] ?? '');
    if (target === null) continue;
    const isOwn =
      target !== 'unreadable' &&
      (target.origin === own.origin ||
        (target.host === host && (target.protocol === 'https:' || own.protocol === 'http:')));
    if (isOwn) continue;
    // Parameters of such addresses are often signatures.
    const place = target === 'unreadable' ? 'an address that cannot be read' : `${target.origin}${target.pathname}`;
    const detail = `to ${place}`.slice(0, MAX_TARGET_CHARS);
    return { code: 'upstream_redirect', cause: new GatewayError('upstream_redirect'), detail };
  }
  return null;
}
