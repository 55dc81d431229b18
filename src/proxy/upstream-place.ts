/** Reads from an upstream's address where its calls are served, as far as prices depend on it. */

import type { Provider } from '../providers/provider.ts';
import { findHostOwner } from '../providers/registry.ts';
import type { ProviderName } from '../vocabulary/call-record.ts';
import type { UpstreamConfig } from '../vocabulary/config.ts';

/** Resellers of the providers' models, at prices of their own. */
const OTHER_SELLERS =
  /(?:^|\.)(?:azure\.com|azure-api\.net|aiplatform\.googleapis\.com|[a-z\d-]+-aiplatform\.googleapis\.com|rep\.googleapis\.com)$/;
/** Suffixes of private networks. */
const PRIVATE_NAME =
  /\.(?:internal|intranet|corp|private|lan|home|local|localdomain|localhost|test|invalid|example|arpa|svc|cluster)$/;
const ADDRESS = /^(?:[\d.]+|\[.*\])$/;

const HOST_NAME = /^[a-z]+:\/\/(?:[^/@]*@)?(\[[^\]]*\]|[^/:]*)/i;

export interface UpstreamHost {
  readonly name: string;
  readonly owner: ProviderName | null;
}

/** Caches the hosts of configured upstreams, which every call asks for. */
export class UpstreamHosts {
  readonly #hosts = new WeakMap<UpstreamConfig, UpstreamHost>();

  read(upstream: UpstreamConfig): UpstreamHost {
    const known = this.#hosts.get(upstream);
    if (known !== undefined) return known;
    const name = HOST_NAME.exec(upstream.origin)?.[1]?.toLowerCase() ?? '';
    const host = { name, owner: findHostOwner(name) };
    this.#hosts.set(upstream, host);
    return host;
  }
}

function isPublicName(host: string): boolean {
  return host.includes('.') && !ADDRESS.test(host) && !PRIVATE_NAME.test(host);
}

/** Null when the provider itself serves it, as `TOLLGATE_UPSTREAM_<PROVIDER>` promises; an alias may be anyone's. */
export function readUpstreamPlace(
  provider: Provider,
  upstream: UpstreamConfig | null,
  isAlias: boolean,
  hosts: UpstreamHosts,
): string | null {
  if (upstream === null) return null;
  const { name: host, owner } = hosts.read(upstream);
  const place = provider.placeOfHost?.(host) ?? null;
  if (place !== null) return place;
  if (owner !== null) return owner === provider.name ? null : host;
  return OTHER_SELLERS.test(host) || (isAlias && isPublicName(host)) ? host : null;
}
