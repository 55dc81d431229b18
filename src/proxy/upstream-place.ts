/**
 * What the address of an upstream says of where its calls are served, as far as their price may depend on it: a place
 * of the provider's own, or another seller, whose prices are not the provider's. No prices here.
 */
import type { ProviderName } from '../call-record.ts';
import type { UpstreamConfig } from '../config.ts';
import type { Provider } from '../providers/provider.ts';
import { findHostOwner } from '../providers/registry.ts';

/** They sell models of the seven under the same wire formats, at prices of their own. */
const OTHER_SELLERS =
  /(?:^|\.)(?:azure\.com|azure-api\.net|aiplatform\.googleapis\.com|[a-z\d-]+-aiplatform\.googleapis\.com|rep\.googleapis\.com)$/;
/** Names that only a network of one's own gives out. */
const PRIVATE_NAME =
  /\.(?:internal|intranet|corp|private|lan|home|local|localdomain|localhost|test|invalid|example|arpa|svc|cluster)$/;
const ADDRESS = /^(?:[\d.]+|\[.*\])$/;

const HOST_NAME = /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:]*)/i;

export interface UpstreamHost {
  /** In lower case, without a port. */
  readonly name: string;
  /** Whose of the seven it is; null for any other. */
  readonly owner: ProviderName | null;
}

/** Asked for every call, of addresses that stay for the life of the process. */
const HOSTS = new WeakMap<UpstreamConfig, UpstreamHost>();

export function readUpstreamHost(upstream: UpstreamConfig): UpstreamHost {
  const known = HOSTS.get(upstream);
  if (known !== undefined) return known;
  const name = HOST_NAME.exec(upstream.origin)?.[1]?.toLowerCase() ?? '';
  const host = { name, owner: findHostOwner(name) };
  HOSTS.set(upstream, host);
  return host;
}

/** A name that anybody can look up: not one word, no address, no suffix of a private network. */
function isPublicName(host: string): boolean {
  return host.includes('.') && !ADDRESS.test(host) && !PRIVATE_NAME.test(host);
}

/**
 * Null: as the provider itself serves it. The operator says of `TOLLGATE_UPSTREAM_<PROVIDER>` that it leads to the
 * provider; an alias may lead to whoever speaks its format, and then the host's name is where it was served.
 */
export function readUpstreamPlace(
  provider: Provider,
  upstream: UpstreamConfig | null,
  isAlias: boolean,
): string | null {
  if (upstream === null) return null;
  const { name: host, owner } = readUpstreamHost(upstream);
  const place = provider.placeOfHost?.(host) ?? null;
  if (place !== null) return place;
  if (owner !== null) return owner === provider.name ? null : host;
  return OTHER_SELLERS.test(host) || (isAlias && isPublicName(host)) ? host : null;
}
