/**
 * Reads `TOLLGATE_TRUSTED_PROXIES`: addresses, ranges and the words `loopback` and `private`, into ranges. Names are not
 * taken: who answers for a name today need not do so tomorrow.
 */
import { isIP } from 'node:net';
import { OperatorError } from '../errors.ts';
import { type Given, refuse } from './given-setting.ts';

export const MAX_TRUSTED_RANGES = 256;

const WORDS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  /** RFC 1918, RFC 4193. */
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
  return [...new Set(ranges)];
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
