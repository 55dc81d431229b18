/** IP addresses in one spelling each, for comparing, filtering and storing. */
import { isIP, isIPv4, SocketAddress } from 'node:net';

const MAPPED = '::ffff:';

/** Unwraps IPv4-mapped addresses and drops zones. Null when the text is no address. */
export function readIpAddress(text: string): string | null {
  switch (isIP(text)) {
    case 4:
      return text;
    case 6:
      return withoutMapping(new SocketAddress({ address: text, family: 'ipv6' }).address);
    default:
      return null;
  }
}

/** The address of a socket's peer; null without one. */
export function readPeerAddress(remoteAddress: string | undefined): string | null {
  if (remoteAddress === undefined) return null;
  const zone = remoteAddress.indexOf('%');
  return withoutMapping(zone === -1 ? remoteAddress : remoteAddress.slice(0, zone));
}

function withoutMapping(address: string): string {
  if (!address.startsWith(MAPPED)) return address;
  const inner = address.slice(MAPPED.length);
  return isIPv4(inner) ? inner : address;
}
