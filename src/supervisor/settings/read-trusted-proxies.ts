/** Reads `TOLLGATE_TRUSTED_PROXIES` into ranges. Names are refused: another host may have one tomorrow. */
import { BlockList, isIP, isIPv6, SocketAddress } from 'node:net';
import { OperatorError } from '../../vocabulary/errors.ts';
import { type Given, refuse } from './given-setting.ts';

export const MAX_TRUSTED_RANGES = 256;

const WORDS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const ALLOWED = 'a list, with commas, of addresses (10.0.0.7), ranges (10.0.0.0/8, fd00::/8), "loopback" and "private"';

/** Each as `<address>/<bits>`. */
export function readTrustedProxies(given: Given): readonly string[] {
  const items = (given.value ?? '').split(',').map((item) => item.trim().toLowerCase());
  const ranges = items.filter((item) => item !== '').flatMap((item) => readItem(given, item));
  if (ranges.length > MAX_TRUSTED_RANGES)
    throw new OperatorError(
      `${given.name}: at most ${MAX_TRUSTED_RANGES} ranges are taken, and it has ${ranges.length}`,
    );
  for (const [family, name] of [
    [4, 'IPv4'],
    [6, 'IPv6'],
  ] as const)
    if (coversAll(ranges, family))
      throw new OperatorError(
        `${given.name}: together the ranges are every ${name} address there is: any client could then say that it is another. Name the addresses of your proxies`,
      );
  return [...new Set(ranges)];
}

/** Unwraps an IPv4 network inside IPv6 (`::ffff:10.0.0.0/104`). */
function withoutMapping(range: string): { readonly address: string; readonly bits: number } {
  const [address = '', bits = ''] = range.split('/');
  const inner = isIPv6(address)
    ? /^::ffff:([\d.]+)$/.exec(new SocketAddress({ address, family: 'ipv6' }).address)
    : null;
  return inner?.[1] !== undefined && Number(bits) >= 96
    ? { address: inner[1], bits: Number(bits) - 96 }
    : { address, bits: Number(bits) };
}

/** True when the shares of the outermost ranges add up to the whole family. */
function coversAll(ranges: readonly string[], family: 4 | 6): boolean {
  const parts = ranges
    .map(withoutMapping)
    .filter(({ address }) => isIP(address) === family)
    .sort((a, b) => a.bits - b.bits);
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  const seen = new BlockList();
  let share = 0;
  for (const { address, bits } of parts) {
    if (seen.check(address, kind)) continue;
    seen.addSubnet(address, bits, kind);
    share += 2 ** -bits;
  }
  return share === 1;
}

function readItem(given: Given, item: string): readonly string[] {
  if (Object.hasOwn(WORDS, item)) return WORDS[item] ?? [];
  const [, address = '', bits] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  if (family === 0 || Number(bits ?? most) > most) throw refuse(given, ALLOWED);
  if (Number(bits) === 0)
    throw new OperatorError(
      `${given.name}: ${item} is every address there is: any client could then say that it is another. Name the addresses of your proxies`,
    );
  return [`${address}/${bits ?? most}`];
}
