/** Refuses redirects that lead clients away from the gateway, where they may take its key along. */

import { GatewayError } from '../vocabulary/errors.ts';
import type { AnswerHead } from './answer-head.ts';
import type { Route } from './route.ts';
import type { UpstreamFailure } from './upstream/upstream-failure.ts';

/** After these, clients resend method and body, and often their credentials (RFC 9110 15.4). */
const RESENT: ReadonlySet<number> = new Set([307, 308]);
const MAX_TARGET_CHARS = 200;

const ABSOLUTE = /^\s*(?:https?:|[\\/]\s*[\\/])/i;

/** As a client resolves it. Null: stays on the gateway, or no address. `unreadable`: leads away, place unknown. */
function readAway(address: string): URL | 'unreadable' | null {
  const here = 'http://gateway.invalid';
  const url = URL.parse(address.trim(), `${here}/`);
  if (url === null) return ABSOLUTE.test(address) ? 'unreadable' : null;
  return url.origin === here || !/^https?:$/.test(url.protocol) ? null : url;
}

/** True when a client that follows this head leaves the gateway. */
export function leadsAway({ names, rawHeaders }: AnswerHead): boolean {
  return names.some(({ isLeading }, index) => isLeading && readAway(rawHeaders[index * 2 + 1] ?? '') !== null);
}

/** Null when the answer may be passed on. */
export function refuseRedirect(head: AnswerHead, { origin, signature, redirects }: Route): UpstreamFailure | null {
  if (redirects === 'pass' || !RESENT.has(head.status)) return null;
  const own = new URL(origin);
  // One client follows the first of several, another the last.
  for (const [index, { lower }] of head.names.entries()) {
    if (lower !== 'location') continue;
    const target = readAway(head.rawHeaders[index * 2 + 1] ?? '');
    if (target === null) continue;
    const isOwn =
      target !== 'unreadable' &&
      (target.origin === own.origin ||
        (target.host === signature.host && (target.protocol === 'https:' || own.protocol === 'http:')));
    if (isOwn) continue;
    // Query parameters of such addresses are often signatures.
    const place = target === 'unreadable' ? 'an address that cannot be read' : `${target.origin}${target.pathname}`;
    const detail = `to ${place}`.slice(0, MAX_TARGET_CHARS);
    return { code: 'upstream_redirect', cause: new GatewayError('upstream_redirect'), detail };
  }
  return null;
}
