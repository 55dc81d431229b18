/**
 * Whose an address in a client's configuration is, and where it may be led. A client sends its credential to whatever address
 * it has; so it may be led to the gateway only from an address to which the gateway itself sends by default, or from a gateway
 * of ours: the credential then comes where it was meant for. Pure.
 */
import { findDefaultHostOwner, PROVIDERS, type ProviderName, readProviderName } from '../providers/registry.ts';
import { originOf } from './find-gateway.ts';

/** `foreign`: a server of the user's own, another address of a provider (a region), or what cannot be told. */
export type AddressOwner = ProviderName | 'gateway' | 'foreign';

export interface KnownAddress {
  readonly owner: AddressOwner;
  /** Its owner, or the provider behind the token of a gateway's address; null where none is named. */
  readonly provider: ProviderName | null;
  /** Behind the provider's host, or the gateway's address and token; without a slash at its end. */
  readonly path: string;
}

/** What a client has in a place where no address is said. */
export interface UsualAddress {
  readonly provider: ProviderName;
  /** What it expects behind the gateway's address. */
  readonly path: string;
}

export interface LedAddress {
  readonly provider: ProviderName;
  /** As `provider`, where its name has to be said beside the path. */
  readonly named: ProviderName | null;
  /** Behind the gateway's address, without a slash at its end. */
  readonly path: string;
}

const FOREIGN: KnownAddress = { owner: 'foreign', provider: null, path: '' };
/** A key or token in front of the path, and the provider behind it. */
const TOKEN = /^\/(?:@|%40)[^/.]*(?:\.([^/]*))?/i;

function withoutSlash(path: string): string {
  return path.replace(/\/+$/, '');
}

/** What stands behind the gateway's address; null for what is beside it. */
function pathAt(url: URL, gateway: string): string | null {
  const own = URL.parse(gateway);
  if (own === null || originOf(own.href) !== originOf(url.href)) return null;
  const mount = withoutSlash(own.pathname.replace(/\/(?:@|%40)[^/]*\/?$/i, ''));
  return `${url.pathname}/`.startsWith(`${mount}/`) ? url.pathname.slice(mount.length) : null;
}

/** Null where none is said. `gateways`: their addresses, with or without a token. */
export function readAddress(address: unknown, gateways: readonly string[]): KnownAddress | null {
  if (address === undefined || address === null) return null;
  if (typeof address !== 'string') return FOREIGN;
  if (address.trim() === '') return null;
  const url = URL.parse(address.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return FOREIGN;
  for (const gateway of gateways) {
    const path = pathAt(url, gateway);
    if (path === null) continue;
    const [token = '', name = ''] = TOKEN.exec(path) ?? [];
    return { owner: 'gateway', provider: readProviderName(name), path: withoutSlash(path.slice(token.length)) };
  }
  const owner = url.protocol === 'https:' ? findDefaultHostOwner(url.host) : null;
  return owner === null ? FOREIGN : { owner, provider: owner, path: withoutSlash(url.pathname) };
}

/** Null for what stays as it is. An address keeps its own path, and the provider that it is for. */
export function leadAddress(known: KnownAddress | null, usual: UsualAddress): LedAddress | null {
  return known?.owner === 'foreign' ? null : leadAnyway(known, usual);
}

/** For a client with one address: of a foreign one nothing is kept. */
export function leadAnyway(known: KnownAddress | null, usual: UsualAddress): LedAddress {
  const provider = known?.provider ?? usual.provider;
  const isNamed = provider !== usual.provider || PROVIDERS[provider].isNamedInAddress === true;
  return { provider, named: isNamed ? provider : null, path: known?.path || usual.path };
}

/** `address`: the gateway's with a token in it, without a slash at its end. */
export function writeLedAddress(address: string, { named, path }: LedAddress): string {
  return `${address}${named === null ? '' : `.${named}`}${path}`;
}

/** For people: the host alone, since an address may have a credential in it. Empty where none can be told. */
export function atHost(address: unknown): string {
  const host = typeof address === 'string' ? URL.parse(address)?.host : undefined;
  return host === undefined || host === '' ? '' : ` at ${host}`;
}
