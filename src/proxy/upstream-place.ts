/**
 * What the address of an upstream says of where its calls are served, as far as their price may depend on it: a place
 * of the provider's own, or another seller, whose prices are not the provider's. No prices here.
 */
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

/** Cut out and not parsed: the settings have the address as the parser writes it, and this is asked for every call. */
export function readHostName({ origin }: UpstreamConfig): string {
  return HOST_NAME.exec(origin)?.[1]?.toLowerCase() ?? '';
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
  const host = readHostName(upstream);
  const place = provider.placeOfHost?.(host) ?? null;
  if (place !== null) return place;
  const owner = findHostOwner(host);
  if (owner !== null) return owner === provider.name ? null : host;
  return OTHER_SELLERS.test(host) || (isAlias && isPublicName(host)) ? host : null;
}
