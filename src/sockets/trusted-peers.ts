/** The proxies in front whose forwarding headers are believed. */
import { BlockList, isIPv4 } from 'node:net';

export interface TrustedPeers {
  /** `address` as `readIpAddress` spells it. */
  readonly has: (address: string) => boolean;
}

/** `ranges` in CIDR form, as the settings check them. Null for none. */
export function createTrustedPeers(ranges: readonly string[]): TrustedPeers | null {
  if (ranges.length === 0) return null;
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return { has: (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
}
