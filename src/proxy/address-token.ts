/**
 * Cuts the key or run token off a request's address, before anything else looks at it: `/@TOKEN/v1/…` becomes `/v1/…`.
 * Behind the token the address may name the provider: `/@TOKEN.together/v1/…`.
 */

import { copyLatin1 } from '../formats/wire/copy-text.ts';

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

/** Changes `url` and sets `addressToken` where the address has one. No path of a provider begins with `@`. */
export function cutAddressToken(incoming: Addressed): void {
  const { url } = incoming;
  if (url === undefined || !mayHaveToken(url)) return;
  const [all, origin = '', segment] = TOKEN.exec(url) ?? [];
  if (all === undefined || segment === undefined) return;
  const rest = url.slice(all.length);
  // Flat, since many patterns are tried on it.
  incoming.url = copyLatin1(`${origin}${rest.startsWith('/') ? '' : '/'}${rest}`);
  const dot = segment.indexOf('.');
  incoming.addressToken =
    dot === -1
      ? { text: segment, provider: undefined }
      : { text: segment.slice(0, dot), provider: segment.slice(dot + 1) };
}

/** Almost no call has one, and this runs for all. */
function mayHaveToken(url: string): boolean {
  return url.startsWith('/@') || url.startsWith('/%40') || !url.startsWith('/');
}
