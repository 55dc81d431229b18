/**
 * Whose request it is. The connection says who its other end is; where that is a trusted proxy, `X-Forwarded-For` says
 * whom the proxy had at its own other end. Each proxy adds its entry on the right, so the list is read from there, and
 * only as far as those who wrote it are trusted: what stands further left may be the client's invention. `Forwarded`
 * (RFC 7239) is not read: a proxy that writes one of the two passes on the other as its client has sent it.
 */
import { readIpAddress, readPeerAddress } from './ip-address.ts';
import type { TrustedPeers } from './trusted-peers.ts';

/** Entries that are looked at; nobody has so many proxies in a row. */
export const MAX_TRUSTED_HOPS = 16;

const FORWARDED_FOR = 'x-forwarded-for';
const FORWARDED_PROTO = 'x-forwarded-proto';
/** Some proxies add the port of the connection, and then IPv6 stands in brackets. */
const BRACKETED = /^\[([\da-f:.]+)\](?::\d{1,5})?$/i;
const WITH_PORT = /^([\d.]+):\d{1,5}$/;

export interface Caller {
  /** Null where the connection has none any more. */
  readonly address: string | null;
  /** A trusted proxy sent the request on. */
  readonly isBehindProxy: boolean;
}

export interface CallerRequest {
  /** Flat, as received. */
  readonly rawHeaders: readonly string[];
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export function readCaller({ rawHeaders, socket }: CallerRequest, trusted: TrustedPeers | null): Caller {
  const peer = readPeerAddress(socket.remoteAddress);
  if (trusted === null || peer === null || !trusted.has(peer)) return { address: peer, isBehindProxy: false };
  return { address: followForwardedFor(peer, listValues(rawHeaders, FORWARDED_FOR), trusted), isBehindProxy: true };
}

/** Whether the client reached the trusted proxy over TLS, as far as that says so. */
export function saysTls(rawHeaders: readonly string[]): boolean {
  return listValues(rawHeaders, FORWARDED_PROTO).at(-1)?.trim().toLowerCase() === 'https';
}

/** `lines`: the values of the header, in order. The result is `peer`, or an entry that a trusted proxy has written. */
export function followForwardedFor(peer: string, lines: readonly string[], trusted: TrustedPeers): string {
  let client = peer;
  let hops = 0;
  for (const entry of listFromRight(lines)) {
    hops += 1;
    const address = hops > MAX_TRUSTED_HOPS ? null : readEntry(entry);
    // `unknown`, a name, nothing: whoever stands left of it is not vouched for.
    if (address === null) return client;
    client = address;
    if (!trusted.has(address)) return client;
  }
  return client;
}

function readEntry(entry: string): string | null {
  return readIpAddress(BRACKETED.exec(entry)?.[1] ?? WITH_PORT.exec(entry)?.[1] ?? entry);
}

/** Not by `split`: of a long list mostly the last entry is read. */
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
