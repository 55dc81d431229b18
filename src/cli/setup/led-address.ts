/** What leads one of several providers in a client's file to the gateway. Pure. */
import type { AddressOwner } from '../address-owner.ts';

export interface LedAddress {
  /** Behind the gateway's address, without a slash at its end. */
  readonly path: string;
  /** For `X-Gateway-Provider`, where the path does not tell. */
  readonly named: string | null;
}

/** `usual`: where it has no address of another provider, whose paths may be others. */
export function readLedAddress(
  address: unknown,
  owner: Exclude<AddressOwner, 'foreign'> | null,
  provider: string,
  usual: LedAddress,
): LedAddress {
  const url = typeof address === 'string' ? URL.parse(address) : null;
  if (url === null || owner === null || owner === 'gateway' || owner === provider) return usual;
  return { path: url.pathname.replace(/\/+$/, ''), named: owner };
}
