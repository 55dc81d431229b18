/** A name look-up that yields public addresses only. Ranges: IANA special-purpose registries (RFC 6890), 2026. */
import { lookup as lookUpName } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Network and prefix length: not globally reachable, reserved, or more than one host. */
const NOT_PUBLIC_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];
/** Everything outside global unicast (2000::/3), and what is reserved inside it. */
const NOT_PUBLIC_IPV6: readonly (readonly [string, number])[] = [
  ['::', 3],
  ['4000::', 2],
  ['8000::', 1],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];
/** NAT64 (RFC 6052): how a network without IPv4 reaches public IPv4 addresses. */
const NAT64_PREFIX = '64:ff9b::';
const NAT64_BITS = 96;

/** None of the addresses of a name is public. */
export class PrivateAddressError extends Error {
  readonly code = 'PRIVATE_ADDRESS';
  constructor() {
    super('the name leads to no public address');
    this.name = 'PrivateAddressError';
  }
}

export type AddressTest = (address: string) => boolean;

export function createPublicTest(): AddressTest {
  const ipv4 = new BlockList();
  const ipv6 = new BlockList();
  const nat64 = new BlockList();
  const nat64Private = new BlockList();
  nat64.addSubnet(NAT64_PREFIX, NAT64_BITS, 'ipv6');
  for (const [network, bits] of NOT_PUBLIC_IPV4) {
    ipv4.addSubnet(network, bits, 'ipv4');
    nat64Private.addSubnet(NAT64_PREFIX + network, NAT64_BITS + bits, 'ipv6');
  }
  for (const [network, bits] of NOT_PUBLIC_IPV6) ipv6.addSubnet(network, bits, 'ipv6');
  return (address) => {
    switch (isIP(address)) {
      case 4:
        return !ipv4.check(address, 'ipv4');
      case 6:
        // An address with a zone is link-local.
        if (address.includes('%')) return false;
        if (nat64.check(address, 'ipv6')) return !nat64Private.check(address, 'ipv6');
        return !ipv6.check(address, 'ipv6');
      default:
        return false;
    }
  };
}

/** Yields only the public ones of several addresses; without any it fails with what `createError` makes. */
export function lookUpPublic(
  lookUp: LookupFunction = lookUpName,
  createError: () => NodeJS.ErrnoException = () => new PrivateAddressError(),
): LookupFunction {
  const isPublic = createPublicTest();
  return (hostname, options, callback) => {
    lookUp(hostname, { ...options, all: true }, (error, found, family) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const all = typeof found === 'string' ? [{ address: found, family: family ?? isIP(found) }] : found;
      const allowed = all.filter(({ address }) => isPublic(address));
      const [first] = allowed;
      if (first === undefined) callback(createError(), '', 0);
      else if (options.all === true) callback(null, allowed);
      else callback(null, first.address, first.family);
    });
  };
}
