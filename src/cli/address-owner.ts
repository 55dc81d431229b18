/**
 * Whose an address in a client's configuration is. A client sends its credential to whatever address it has; so it may be
 * led to the gateway only from the provider's own host, or from a gateway of ours: the gateway sends the credential on. Pure.
 */
import { findHostOwner, type ProviderName } from '../providers/registry.ts';

/** `foreign`: a server of the user's own, or what cannot be told. */
export type AddressOwner = ProviderName | 'gateway' | 'foreign';

/** Null where none is said. `gateways`: addresses, of which the host counts. */
export function readAddressOwner(address: unknown, gateways: readonly string[]): AddressOwner | null {
  if (address === undefined || address === null || address === '') return null;
  const url = typeof address === 'string' && address.trim() !== '' ? URL.parse(address.trim()) : null;
  if (url === null) return typeof address === 'string' && address.trim() === '' ? null : 'foreign';
  if (gateways.some((gateway) => URL.parse(gateway)?.host === url.host)) return 'gateway';
  return findHostOwner(url.hostname) ?? 'foreign';
}

/** For people: the host alone, since an address may have a credential in it. Empty where none can be told. */
export function atHost(address: unknown): string {
  const host = typeof address === 'string' ? URL.parse(address)?.host : undefined;
  return host === undefined || host === '' ? '' : ` at ${host}`;
}
