/**
 * Cuts the key or run token off a request's address, before anything else looks at it: `/@TOKEN/v1/…` becomes `/v1/…`.
 * Behind the token the address may name the provider: `/@TOKEN.together/v1/…`.
 */

import { copyLatin1 } from '../formats/wire/copy-text.ts';
import { dropOldest } from '../vocabulary/drop-oldest.ts';

export interface AddressToken {
  /** As it came; not known to be a token of ours. */
  readonly text: string;
  readonly provider: string | undefined;
}

/** Some clients encode the `@`. An absolute target has the host in front. */
const TOKEN = /^(https?:\/\/[^/?#]*)?\/(?:@|%40)([^/?#]*)/i;

interface Addressed {
  url?: string | undefined;
  addressToken?: AddressToken | undefined;
}

interface Cut {
  readonly url: string;
  readonly addressToken: AddressToken;
}

/** An agent asks at the same address again and again, and texts that are one object are equal at a glance. */
const SEEN = new Map<string, Cut>();
const MAX_SEEN = 1_000;
const MAX_SEEN_CHARS = 512;

/** Changes `url` and sets `addressToken` where the address has one. No path of a provider begins with `@`. */
export function cutAddressToken(incoming: Addressed): void {
  const { url } = incoming;
  if (url === undefined || !mayHaveToken(url)) return;
  const cut = SEEN.get(url) ?? readAddress(url);
  if (cut === null) return;
  incoming.url = cut.url;
  incoming.addressToken = cut.addressToken;
}

function readAddress(address: string): Cut | null {
  const [all, origin = '', segment] = TOKEN.exec(address) ?? [];
  if (all === undefined || segment === undefined) return null;
  const rest = address.slice(all.length);
  // Flat, since many patterns are tried on it.
  const url = copyLatin1(`${origin}${rest.startsWith('/') ? '' : '/'}${rest}`);
  const dot = segment.indexOf('.');
  const text = copyLatin1(dot === -1 ? segment : segment.slice(0, dot));
  const cut = { url, addressToken: { text, provider: dot === -1 ? undefined : segment.slice(dot + 1) } };
  if (address.length <= MAX_SEEN_CHARS) {
    SEEN.set(address, cut);
    dropOldest(SEEN, MAX_SEEN);
  }
  return cut;
}

/** Almost no call has one, and this runs for all. */
function mayHaveToken(url: string): boolean {
  return url.startsWith('/@') || url.startsWith('/%40') || !url.startsWith('/');
}
