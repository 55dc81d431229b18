/** IP addresses in one spelling each: what is compared, filtered and kept must not depend on who wrote it. */
import { isIP, isIPv4, SocketAddress } from 'node:net';

const MAPPED = '::ffff:';

/** An IPv4 address inside an IPv6 one becomes itself, a zone is left out. Null when the text is no address. */
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

/** Of a connected socket, where the operating system has spelled it. Null for a socket without an address. */
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
