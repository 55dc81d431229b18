/** The balancers and proxies in front whose word about a client counts. Without any, nothing of this runs. */
import { BlockList, isIPv4 } from 'node:net';

export interface TrustedPeers {
  /** `address` as `readIpAddress` spells it. */
  readonly has: (address: string) => boolean;
}

/** `ranges`: address and length of the prefix, as `settings/read-trusted-proxies.ts` leaves them. Null for none. */
export function createTrustedPeers(ranges: readonly string[]): TrustedPeers | null {
  if (ranges.length === 0) return null;
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/');
    list.addSubnet(network, Number(bits), isIPv4(network) ? 'ipv4' : 'ipv6');
  }
  return { has: (address) => list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6') };
}
