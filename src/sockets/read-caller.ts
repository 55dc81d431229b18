/**
 * Finds a request's client: the peer, or behind trusted proxies the entry of `X-Forwarded-For`, read from the right as
 * far as its writers are trusted. `Forwarded` (RFC 7239) is not read, since proxies that write only one pass the other
 * on.
 */
import { readIpAddress, readPeerAddress } from './ip-address.ts';
import type { TrustedPeers } from './trusted-peers.ts';

/** The most entries that are read. */
export const MAX_TRUSTED_HOPS = 16;

const FORWARDED_FOR = 'x-forwarded-for';
const FORWARDED_PROTO = 'x-forwarded-proto';
/** Some proxies add the port, and bracket IPv6. */
const BRACKETED = /^\[([\da-f:.]+)\](?::\d{1,5})?$/i;
const WITH_PORT = /^([\d.]+):\d{1,5}$/;

export interface Caller {
  /** Null once the connection has no peer. */
  readonly address: string | null;
  readonly isBehindProxy: boolean;
}

export interface CallerRequest {
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export function readCaller({ rawHeaders, socket }: CallerRequest, trusted: TrustedPeers | null): Caller {
  const peer = readPeerAddress(socket.remoteAddress);
  if (trusted === null || peer === null || !trusted.has(peer)) return { address: peer, isBehindProxy: false };
  return { address: followForwardedFor(peer, listValues(rawHeaders, FORWARDED_FOR), trusted), isBehindProxy: true };
}

/** True when a trusted proxy says that the client used TLS. */
export function saysTls(rawHeaders: readonly string[]): boolean {
  return listValues(rawHeaders, FORWARDED_PROTO).at(-1)?.trim().toLowerCase() === 'https';
}

/** `lines`: the header's values in order. Returns `peer`, or an entry written by a trusted proxy. */
export function followForwardedFor(peer: string, lines: readonly string[], trusted: TrustedPeers): string {
  let client = peer;
  let hops = 0;
  for (const entry of listFromRight(lines)) {
    hops += 1;
    const address = hops > MAX_TRUSTED_HOPS ? null : readEntry(entry);
    // Entries left of an unreadable one are not vouched for.
    if (address === null) return client;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}

function readEntry(entry: string): string | null {
  return readIpAddress(BRACKETED.exec(entry)?.[1] ?? WITH_PORT.exec(entry)?.[1] ?? entry);
}

/** No `split`, since mostly only the last entry is read. */
function* listFromRight(lines: readonly string[]): Generator<string> {
  for (const line of lines.toReversed()) {
    let end = line.length;
    while (end >= 0) {
      const comma = end === 0 ? -1 : line.lastIndexOf(',', end - 1);
      yield line.slice(comma + 1, end).trim();
      end = comma;
    }
  }
}

function listValues(rawHeaders: readonly string[], lower: string): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === lower.length && name.toLowerCase() === lower) values.push(rawHeaders[index + 1] ?? '');
  }
  return values;
}
